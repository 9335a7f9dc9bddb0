import { expect, test } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { describeFaktory } from '../support/faktory-gateway.ts'

/** Long enough for two looks, which are a second apart. */
const deadWorkerMs = 3_000

describeFaktory('a Faktory worker that dies', (gateways) => {
  const open = (deadWorkerRequeue: 'others' | 'all' = 'others') =>
    gateways.open({ schedulerOptions: { deadWorkerMs, deadWorkerRequeue } })

  /** A job that a native client pushed. */
  async function pushNative(input: string): Promise<void> {
    const id = await gateways.redis('INCR', 'uid:t')
    await gateways.redis('HSET', `job:t:${id}`, 'status', 'idle', 'input', input)
    await gateways.redis('LPUSH', 'queue:t:normal', id)
  }

  const holders = (): Promise<string> => gateways.redis('ZRANGE', 'xg:holders', '0', '-1')
  const status = (id: number): Promise<string> => gateways.redis('HGET', `job:t:${id}`, 'status')

  test('loses a job of another door to another worker, and its late ACK ends the job there', async () => {
    const [here, there] = [await open(), await open()]
    await here.scheduler.openLane('t')
    await there.scheduler.openLane('t')
    const dying = await here.client({ wid: 'dying' })
    await pushNative('[1]')
    const { jid } = await dying.askJson('FETCH')
    await expect.poll(holders, soon).toContain('wdying')
    dying.close()
    await expect.poll(() => status(1), soon).toBe('idle')
    expect(await gateways.redis('HGET', 'job:t:1', 'losses')).toContain('1')
    const next = await there.client({ wid: 'next' })
    expect(await next.askJson('FETCH')).toMatchObject({ jid, args: [1] })
    const late = await here.client({ wid: 'dying' })
    expect(await late.ask(`ACK {"jid":"${String(jid)}"}`)).toBe('+OK')
    expect(await status(1)).toBe('success')
    expect(await next.ask(`ACK {"jid":"${String(jid)}"}`)).toBe('+OK')
  })

  test('without a wid gives it back when its connection is gone, and not before', async () => {
    const { client, scheduler } = await open()
    await scheduler.openLane('t')
    const [stays, goes] = [await client(), await client()]
    await pushNative('[1]')
    await pushNative('[2]')
    const { jid } = await stays.askJson('FETCH')
    await goes.askJson('FETCH')
    goes.close()
    await expect.poll(() => status(2), soon).toBe('idle')
    expect(await status(1)).toBe('busy')
    expect(await stays.ask(`ACK {"jid":"${String(jid)}"}`)).toBe('+OK')
  })

  test('keeps jobs of Faktory producers to the end of their reserve_for, unless the option says otherwise', async () => {
    const { client, scheduler } = await open('all')
    await scheduler.openLane('t')
    const dying = await client({ wid: 'dying' })
    await dying.pushAndFetch('12345678')
    await expect.poll(holders, soon).toContain('wdying')
    dying.close()
    await expect.poll(() => status(1), soon).toBe('idle')
  })

  test('is tracked only for the jobs of other doors, until it has ended them', async () => {
    const { client, scheduler } = await open()
    await scheduler.openLane('t')
    const worker = await client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    expect(await holders()).toBe('')
    await pushNative('[2]')
    const { jid } = await worker.askJson('FETCH')
    await expect.poll(holders, soon).toContain('wworker-1')
    expect(await worker.ask(`ACK {"jid":"${String(jid)}"}`)).toBe('+OK')
    await expect.poll(holders, soon).toBe('')
  })

  test('is not tracked any more once it has ended a job whose lease was gone', async () => {
    const { client, scheduler } = await open()
    await scheduler.openLane('t')
    const worker = await client({ wid: 'worker-1' })
    await pushNative('[1]')
    const { jid } = await worker.askJson('FETCH')
    await expect.poll(holders, soon).toContain('wworker-1')
    expect(await worker.ask('FLUSH')).toBe('+OK')
    await worker.ask(`ACK {"jid":"${String(jid)}"}`)
    await expect.poll(holders, soon).toBe('')
    expect(await gateways.redis('EXISTS', 'xg:held:wworker-1')).toBe('0')
  })

  test('is alive as long as it beats, at whichever node', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    await here.scheduler.openLane('t')
    const worker = await here.client({ wid: 'worker-1' })
    await pushNative('[1]')
    await worker.askJson('FETCH')
    await expect.poll(holders, soon).toContain('wworker-1')
    await gateways.redis('ZADD', 'xg:holders', 'XX', '1', 'wworker-1')
    const elsewhere = await there.client({ wid: 'worker-1' })
    expect(await elsewhere.ask('BEAT {"wid":"worker-1"}')).toBe('+OK')
    await expect.poll(() => gateways.redis('ZCOUNT', 'xg:holders', '2', '+inf'), soon).toBe('1')
  })
})
