import { expect, test } from 'vitest'
import { maxWaitingFetches } from '../../../src/doors/faktory/session.ts'
import { describeFaktory } from './support/faktory-gateway.ts'
import { pushLine } from './support/fwp-client.ts'
import { figures, nothing } from './support/figures.ts'

const future = '2999-01-01T00:00:00Z'
const jobOf = (reply: string): string | undefined => /"jid":"([^"]+)"/.exec(reply)?.[1]

describeFaktory('commands in one write', (gateways) => {
  test('a PUSH after FLUSH stays', async () => {
    const one = await gateways.client()
    await one.push('before-1')
    for (let round = 0; round < 5; round += 1) {
      one.send('FLUSH', pushLine(`after--${round}`))
      expect([await one.reply(), await one.reply()]).toEqual(['+OK', '+OK'])
      expect(await figures(one)).toEqual({ ...nothing, enqueued: 1 })
    }
  })

  test('a batch is committed with the jobs pushed before', async () => {
    const one = await gateways.client()
    const made = await one.ask('BATCH NEW {"success":{"jobtype":"t","queue":"later"}}')
    const bid = made.split('\r\n')[1] ?? ''
    one.send(
      pushLine('in-batch', { custom: { bid } }),
      `BATCH COMMIT ${bid}`,
      `BATCH STATUS ${bid}`,
    )
    expect([await one.reply(), await one.reply()]).toEqual(['+OK', '+OK'])
    expect(await one.reply()).toContain(
      '"total":1,"pending":1,"failed":0,"complete_st":"","success_st":""',
    )
  })

  test('MUTATE finds the job pushed before, and FETCH what it requeued', async () => {
    const one = await gateways.client({ wid: 'worker-1' })
    one.send(
      pushLine('scheduled-1', { at: future }),
      'MUTATE {"cmd":"requeue","target":"scheduled"}',
      'FETCH',
      'FAIL {"jid":"scheduled-1"}',
      'MUTATE {"cmd":"requeue","target":"retries"}',
      'FETCH',
    )
    expect([await one.reply(), await one.reply()]).toEqual(['+OK', '+OK'])
    expect(jobOf(await one.reply())).toBe('scheduled-1')
    expect([await one.reply(), await one.reply()]).toEqual(['+OK', '+OK'])
    expect(jobOf(await one.reply())).toBe('scheduled-1')
  })

  test('FETCH after a pause gets no job, and commands behind END are not run', async () => {
    const { client, clock } = await gateways.open({ fetchBlocksMs: 50 })
    const one = await client({ wid: 'worker-1' })
    await one.push('12345678')
    one.send('QUEUE PAUSE default', 'FETCH', 'INFO', 'END', pushLine('behind-1'))
    expect(await one.reply()).toBe('+OK')
    await clock.armed(50)
    clock.advance(50)
    expect(await one.reply()).toBe('$-1')
    expect(await one.reply()).toContain('"default":1')
    expect(await one.reply()).toBe('+OK')
    expect(await one.closed()).toBe('')
    expect(await figures(await client())).toEqual({ ...nothing, enqueued: 1 })
  })

  test('100 FETCH wait at a time: what is behind them waits, as behind one at Faktory', async () => {
    const { client, clock } = await gateways.open({ fetchBlocksMs: 50 })
    const one = await client({ wid: 'worker-1' })
    one.send(...Array<string>(maxWaitingFetches).fill('FETCH'), pushLine('12345678'), 'FETCH')
    await clock.armed(50)
    clock.advance(50)
    for (let fetch = 0; fetch < maxWaitingFetches; fetch += 1) expect(await one.reply()).toBe('$-1')
    expect(await one.reply()).toBe('+OK')
    expect(jobOf(await one.reply())).toBe('12345678')
  })

  test('commands behind END are not run, also if nothing was pending', async () => {
    const { client } = await gateways.open()
    const one = await client()
    one.send('END', pushLine('behind-1'), 'INFO')
    expect(await one.reply()).toBe('+OK')
    expect(await one.closed()).toBe('')
    expect(await figures(await client())).toEqual(nothing)
  })

  test('a wrong command keeps its place among the answers', async () => {
    const one = await gateways.client()
    one.send('INFO', 'NOPE', 'PUSH {', 'TRACK GET', 'BEAT {"wid":"x"}')
    expect(await one.reply()).toContain('"faktory"')
    expect(await one.reply()).toBe('-ERR unknown command NOPE')
    expect(await one.reply()).toBe('-ERR invalid JSON: unexpected end of JSON input')
    expect(await one.reply()).toBe('-ERR invalid TRACK GET')
    expect(await one.reply()).toBe('-ERR unknown worker x')
  })
})

describeFaktory('a client that has closed its half', (gateways) => {
  test('gets all its answers, and then the end', async () => {
    const { stranger } = await gateways.open()
    const one = await stranger()
    one.send('HELLO {"v":2}', pushLine('12345678'), 'INFO', 'TRACK GET 12345678')
    one.end()
    const [hi, hello, push, size, info, , track] = (await one.closed()).split('\r\n')
    expect([hi?.slice(0, 4), hello, push]).toEqual(['+HI ', '+OK', '+OK'])
    expect([size?.[0], info]).toEqual(['$', expect.stringContaining('"total_enqueued":1')])
    expect(track).toContain('"state":"unknown"')
  })

  test('gets no job that it could not acknowledge', async () => {
    const { client } = await gateways.open()
    const one = await client({ wid: 'worker-1' })
    one.send('FETCH')
    one.end()
    expect(await one.closed()).toBe('$-1\r\n')
    const other = await client({ wid: 'worker-2' })
    await other.push('12345678')
    const leaving = await client({ wid: 'worker-3' })
    leaving.send('FETCH')
    leaving.end()
    await leaving.closed()
    expect(jobOf(await other.ask('FETCH'))).toBe('12345678')
  })
})
