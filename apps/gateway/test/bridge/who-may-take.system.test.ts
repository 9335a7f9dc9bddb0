import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import type { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import { describeFleet, type FleetNode } from './support/fleet.ts'

describeFleet('a Faktory consumer', [], (fleet) => {
  let usual: FleetNode
  let other: FleetNode
  beforeAll(async () => {
    ;[usual, other] = [fleet.first, await fleet.node()]
  })

  const consumer = (node: FleetNode, hello: object = {}): Promise<FwpClient> =>
    node.client({ wid: randomUUID(), ...hello })

  /** The type of the job that it gets next of a queue where it may take the job `mark`, pushed now. */
  async function firstBefore(taker: FwpClient, queue: string, mark = 'mark'): Promise<string> {
    expect(await taker.push(randomUUID(), { jobtype: mark, queue })).toBe('+OK')
    const job: Readonly<Record<string, unknown>> = await taker.askJson(`FETCH ${queue}`)
    return String(job['jobtype'])
  }

  async function seenWorker(node: FleetNode, fn: string): Promise<void> {
    const worker = await node.peer(fn)
    await fleet.counted(fn, 1)
    await worker.leave()
    await fleet.counted(fn, 0)
  }

  test('gets no job of a new lane whose function has workers, at whichever node', async () => {
    const [queue, fns] = [randomUUID(), Array.from({ length: 30 }, () => randomUUID())]
    const [here, there] = [await usual.peer(), await other.peer()]
    const worker = await usual.peer(...fns)
    const takers = [await consumer(usual), await consumer(other)]
    for (const taker of takers) taker.send(`FETCH ${queue}`)
    for (const [at, fn] of fns.entries()) {
      await (at % 2 === 0 ? here : there).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', fn)
      await fleet.counted(`${fn}@${queue}`, 1 + takers.length)
    }
    const done: string[] = []
    while (done.length < fns.length) done.push(await worker.doNextJob())
    expect(done.sort()).toEqual(fns.sort())
    for (const taker of takers) expect(await taker.reply()).toBe('$-1')
  })

  test('gets jobs of a function that no worker asked for by name', async () => {
    const [fn, queue] = [randomUUID(), randomUUID()]
    const taker = await consumer(usual)
    await (await usual.peer()).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    expect(await firstBefore(taker, queue)).toBe(fn)
  })

  test('gets no job of a function whose workers left a moment ago', async () => {
    const [fn, queue] = [randomUUID(), randomUUID()]
    await seenWorker(usual, fn)
    await (await other.peer()).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    expect(await firstBefore(await consumer(usual), queue)).toBe('mark')
  })

  test('gets them with --bridge-grace-days 0', async () => {
    const hasty = await fleet.node('--bridge-grace-days', '0')
    const [fn, queue] = [randomUUID(), randomUUID()]
    await seenWorker(hasty, fn)
    await (await hasty.peer()).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    expect(await firstBefore(await consumer(hasty), queue)).toBe(fn)
    await hasty.stop()
  })

  test('gets only opened functions with --bridge-faktory routed', async () => {
    const strict = await fleet.node('--bridge-faktory', 'routed')
    const [fn, queue] = [randomUUID(), randomUUID()]
    await (await strict.peer()).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    const taker = await consumer(strict)
    expect(await firstBefore(taker, queue)).toBe('mark')
    // A producer that pushes such jobs opens the lane to consumers.
    expect(await firstBefore(taker, queue, fn)).toBe(fn)
    await strict.stop()
  })

  test('that names functions by labels gets only these, closed or not', async () => {
    const [fn, queue] = [randomUUID(), randomUUID()]
    await seenWorker(usual, fn)
    await (await usual.peer()).submit('SUBMIT_JOB_BG', `${fn}@${queue}`, '', 'x')
    const taker = await consumer(usual, { labels: [`fn:${fn}`] })
    expect(await firstBefore(taker, queue)).toBe(fn)
    expect(await taker.ask(`FETCH ${queue}`)).toBe('$-1')
  })
})
