import { randomUUID } from 'node:crypto'
import { soon } from '@crossgear/tools/wait-for'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../faktory/support/fwp-client.ts'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import { Fleet, type FleetNode } from './support/fleet.ts'

/** The input of the job that a Gearman worker gets next. */
async function grab(worker: GearmanPeer): Promise<string> {
  let [heard = '', handle = '', , input = ''] = await worker.ask('GRAB_JOB')
  while (heard !== 'JOB_ASSIGN') {
    const next = heard === 'NO_JOB' ? 'PRE_SLEEP' : 'GRAB_JOB'
    ;[heard = '', handle = '', , input = ''] = await worker.ask(next)
  }
  worker.send('WORK_COMPLETE', handle, '')
  return input
}

describe.skipIf(lacksRedis)('a Faktory consumer', { timeout: 60_000 }, () => {
  let fleet: Fleet
  let usual: FleetNode
  let other: FleetNode
  const ends: (() => unknown)[] = []
  beforeAll(async () => {
    fleet = await Fleet.start()
    ;[usual, other] = await Promise.all([fleet.node(), fleet.node()])
  }, 60_000)
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })
  afterAll(() => fleet.close(), 60_000)

  async function gearman(node: FleetNode): Promise<GearmanPeer> {
    const peer = await GearmanPeer.connect(node.gearman)
    ends.push(() => peer.leave())
    return peer
  }

  async function consumer(node: FleetNode, hello: object = {}): Promise<FwpClient> {
    const client = await FwpClient.greeted(node.faktory, { wid: randomUUID(), ...hello })
    ends.push(() => client.close())
    return client
  }

  /** The type of the job that it gets next of a queue where it may take the job `mark`, pushed now. */
  async function firstBefore(taker: FwpClient, queue: string, mark = 'mark'): Promise<string> {
    const jid = randomUUID()
    expect(await taker.ask(`PUSH ${JSON.stringify({ jid, jobtype: mark, args: [], queue })}`)).toBe(
      '+OK',
    )
    const job: Readonly<Record<string, unknown>> = await taker.askJson(`FETCH ${queue}`)
    return String(job['jobtype'])
  }

  async function seenWorker(node: FleetNode, fn: string): Promise<void> {
    const worker = (await gearman(node)).send('CAN_DO', fn)
    await worker.sync()
    await vi.waitFor(async () => expect(await fleet.redis.get(`count:${fn}`)).toBe('1'), soon)
    await worker.leave()
    await vi.waitFor(async () => expect(await fleet.redis.get(`count:${fn}`)).toBe('0'), soon)
  }

  test('gets no job of a new lane whose function has workers, at whichever node', async () => {
    const [queue, fns] = [randomUUID(), Array.from({ length: 30 }, () => randomUUID())]
    const [here, there] = [await gearman(usual), await gearman(other)]
    const worker = await gearman(usual)
    for (const fn of fns) worker.send('CAN_DO', fn)
    await worker.sync()
    const takers = [await consumer(usual), await consumer(other)]
    for (const taker of takers) taker.send(`FETCH ${queue}`)
    for (const [at, fn] of fns.entries()) {
      await (at % 2 === 0 ? here : there).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', fn)
      await vi.waitFor(async () => {
        expect(await fleet.redis.get(`count:${fn}@${queue}`)).toBe(String(1 + takers.length))
      }, soon)
    }
    const done: string[] = []
    while (done.length < fns.length) done.push(await grab(worker))
    expect(done.sort()).toEqual(fns.sort())
    for (const taker of takers) {
      const reply = await taker.reply()
      expect(reply).toBe('$-1')
    }
  })

  test('gets jobs of a function that no worker asked for by name', async () => {
    const [fn, queue] = [randomUUID(), randomUUID()]
    const taker = await consumer(usual)
    await (await gearman(usual)).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    expect(await firstBefore(taker, queue)).toBe(fn)
  })

  test('gets no job of a function whose workers left a moment ago', async () => {
    const [fn, queue] = [randomUUID(), randomUUID()]
    await seenWorker(usual, fn)
    await (await gearman(other)).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    expect(await firstBefore(await consumer(usual), queue)).toBe('mark')
  })

  test('gets them with --bridge-grace-days 0', async () => {
    const hasty = await fleet.node('--bridge-grace-days', '0')
    const [fn, queue] = [randomUUID(), randomUUID()]
    await seenWorker(hasty, fn)
    await (await gearman(hasty)).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    expect(await firstBefore(await consumer(hasty), queue)).toBe(fn)
    await hasty.stop()
  })

  test('gets only opened functions with --bridge-faktory routed', async () => {
    const strict = await fleet.node('--bridge-faktory', 'routed')
    const [fn, queue] = [randomUUID(), randomUUID()]
    await (await gearman(strict)).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    const taker = await consumer(strict)
    expect(await firstBefore(taker, queue)).toBe('mark')
    // A producer that pushes such jobs opens the lane to consumers.
    expect(await firstBefore(taker, queue, fn)).toBe(fn)
    await strict.stop()
  })

  test('that names functions by labels gets only these, closed or not', async () => {
    const [fn, queue] = [randomUUID(), randomUUID()]
    await seenWorker(usual, fn)
    await (await gearman(usual)).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    const taker = await consumer(usual, { labels: [`fn:${fn}`] })
    expect(await firstBefore(taker, queue)).toBe(fn)
    expect(await taker.ask(`FETCH ${queue}`)).toBe('$-1')
  })
})
