import { expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'

const refused = '-NOTUNIQUE Job not unique'
const custom = { unique_for: 600 }

describeFaktory('unique jobs', (gateways) => {
  test('are refused while their duplicate has not been done, at every node', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const [one, other] = [await here.client({ wid: 'w1' }), await there.client()]
    expect(await one.push('first001', { custom })).toBe('+OK')
    expect(await other.push('second01', { custom })).toBe(refused)
    await one.ask('FETCH')
    expect(await other.push('second01', { custom })).toBe(refused)
    await one.ask('ACK {"jid":"first001"}')
    expect(await other.push('second01', { custom })).toBe('+OK')
  })

  test('can be pushed again once the first has started, if it says so', async () => {
    const one = await gateways.client({ wid: 'w1' })
    const untilStart = { custom: { ...custom, unique_until: 'start' } }
    await one.push('first001', untilStart)
    expect(await one.push('second01', untilStart)).toBe(refused)
    await one.ask('FETCH')
    expect(await one.push('second01', untilStart)).toBe('+OK')
  })

  test.each([
    ['other args', { args: [1] }],
    ['another queue', { queue: 'bulk' }],
    ['another type', { jobtype: 'u' }],
    ['no claim to be unique', { custom: {} }],
  ])('are not equal to jobs with %s', async (_name, fields) => {
    const one = await gateways.client()
    await one.push('first001', { custom })
    expect(await one.push('second01', { custom, ...fields })).toBe('+OK')
  })

  test('are equal whatever white space their args have, except in strings', async () => {
    const one = await gateways.client()
    const push = (args: string): Promise<string> =>
      one.ask(`PUSH {"jid":"12345678","jobtype":"t","args":${args},"custom":{"unique_for":9}}`)
    expect(await push('[1, {"a": "b c"}]')).toBe('+OK')
    expect(await push('[1,{"a":"b c"}]')).toBe(refused)
    expect(await push('[1,{"a":"bc"}]')).toBe('+OK')
  })

  test('may have args of many MB', async () => {
    const one = await gateways.client()
    const args = ['a'.repeat(10_000_000)]
    expect(await one.push('first001', { custom, args })).toBe('+OK')
    expect(await one.push('second01', { custom, args })).toBe(refused)
  })

  test('keep their lock when they fail, until unique_for is over', async () => {
    const one = await gateways.client({ wid: 'w1' })
    await one.pushAndFetch('first001', { custom, retry: -1 })
    await one.ask('FAIL {"jid":"first001"}')
    expect(await one.push('second01', { custom })).toBe(refused)
    const [lock = ''] = (await gateways.redis('KEYS', 'xg:once:*')).split(',')
    const left = Number(await gateways.redis('TTL', lock))
    expect(left).toBeGreaterThan(590)
    expect(left).toBeLessThanOrEqual(600)
    await gateways.redis('PEXPIRE', lock, '0')
    expect(await one.push('second01', { custom })).toBe('+OK')
  })

  test('are named one by one in the answer to PUSHB', async () => {
    const job = (jid: string, args: unknown[]): object => ({ jid, jobtype: 't', args, custom })
    const jobs = [job('first001', []), job('second01', []), job('third001', [1])]
    expect(await (await gateways.client()).askJson(`PUSHB ${JSON.stringify(jobs)}`)).toEqual({
      second01: 'NOTUNIQUE Job not unique',
    })
  })

  test('are free again after FLUSH', async () => {
    const one = await gateways.client()
    await one.push('first001', { custom })
    await one.ask('FLUSH')
    expect(await one.push('second01', { custom })).toBe('+OK')
  })
})
