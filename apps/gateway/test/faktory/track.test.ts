import { describe, expect, it } from 'vitest'
import { hasRedisServer } from '../support/redis-server.ts'
import { faktoryGateways } from './support/faktory-gateway.ts'
import { pushLine } from './support/figures.ts'

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)

describe.skipIf(!hasRedisServer)('TRACK', () => {
  const gateways = faktoryGateways()

  it.each([
    ['', 'invalid TRACK '],
    ['FOO x', 'invalid TRACK FOO x'],
    ['GET', 'invalid TRACK GET'],
    ['SET {}', 'invalid TRACK SET {}'],
    ['SET {"jid":"unknown-1","percent":7}', 'Job not found unknown-1'],
  ])('refuses %j', async (argument, text) => {
    const { client } = await gateways.open()
    expect(await (await client()).ask(`TRACK ${argument}`)).toBe(`-ERR ${text}`)
  })

  it('GET of a job that nobody knows says so', async () => {
    const { client } = await gateways.open()
    expect(await (await client()).askJson('TRACK GET unknown-1')).toEqual({
      ...{ jid: 'unknown-1', percent: 0, desc: '', state: 'unknown', updated_at: '' },
    })
  })

  it('follows a job through its life, and beyond where its producer asks for it', async () => {
    const { client } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    const producer = await client()
    const get = 'TRACK GET 12345678'
    const at = { updated_at: timestamp }
    await producer.ask(pushLine('12345678', { custom: { track: 1 } }))
    expect(await producer.askJson(get)).toMatchObject({ state: 'enqueued', percent: 0, ...at })
    await worker.ask('FETCH')
    expect(await producer.askJson(get)).toMatchObject({ state: 'working', percent: 0 })
    const set = { jid: '12345678', percent: 32, desc: 'Calculating values...' }
    expect(await worker.ask(`TRACK SET ${JSON.stringify(set)}`)).toBe('+OK')
    expect(await producer.askJson(get)).toEqual({ ...set, state: 'working', ...at })
    await worker.ask('ACK {"jid":"12345678"}')
    expect(await producer.askJson(get)).toEqual({ ...set, percent: 100, state: 'success', ...at })
  })

  it.each([
    ['a scheduled job', { at: '2999-01-01T00:00:00Z' }, 'scheduled'],
    ['a queued job', {}, 'enqueued'],
  ])('GET of %s', async (_name, fields, state) => {
    const { client } = await gateways.open()
    const one = await client()
    await one.ask(pushLine('12345678', fields))
    expect(await one.askJson('TRACK GET 12345678')).toMatchObject({ state })
  })

  it.each([
    ['will be tried again', 3, 'failed'],
    ['is dead', -1, 'dead'],
    ['is gone', 0, 'unknown'],
  ])('GET of a failed job that %s', async (_name, retry, state) => {
    const { client } = await gateways.open()
    const one = await client()
    await one.ask(pushLine('12345678', { retry }))
    await one.ask('FETCH')
    await one.ask('FAIL {"jid":"12345678"}')
    expect(await one.askJson('TRACK GET 12345678')).toMatchObject({ state })
  })

  it('SET extends a reservation', async () => {
    const { client } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    await worker.ask(pushLine('12345678'))
    await worker.ask('FETCH')
    const until = new Date(Date.now() + 7_200_000)
    const set = { jid: '12345678', reserve_until: until.toISOString() }
    expect(await worker.ask(`TRACK SET ${JSON.stringify(set)}`)).toBe('+OK')
    expect(await gateways.redis('ZSCORE', 'xg:busy:t', '1')).toContain(String(until.getTime()))
  })
})
