import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { GearMonkeyClient } from '@crossgear/gearmonkey-redis'
import { soon } from '@crossgear/tools/wait-for'
import type { GearmanPeer } from '../doors/gearman/support/gearman-peer.ts'
import { describeFleet, type FleetNode } from './support/fleet.ts'

/** A node is dead when its heartbeat stood still in three looks after the first, one a second. */

/** Of the API. */
interface Answer {
  readonly workers: number
  readonly functions: readonly { readonly lane: string; readonly workers: number }[]
}

function gearmanWorkers(node: FleetNode, fn: string, many: number): Promise<GearmanPeer[]> {
  return Promise.all(Array.from({ length: many }, () => node.peer(fn)))
}

describeFleet('the count of a function’s workers', [], (fleet) => {
  test('is seen by a native roll call', async () => {
    const fn = randomUUID()
    const client = new GearMonkeyClient(fleet.server.url)
    await expect(client.run(fn, 'x', { rollCall: true })).rejects.toThrow()
    const worker = await fleet.first.peer(fn)
    await fleet.counted(fn, 1)
    const outcome = client.run(fn, 'x', { rollCall: true, blocking: true, timeoutSeconds: 5 })
    const { handle } = await worker.nextJob()
    worker.send('WORK_COMPLETE', handle, 'done')
    const job = await client.get(fn, await outcome)
    expect(job).toMatchObject({ status: 'success', output: Buffer.from('done') })
    client.close()
  })

  test('is shown with the Faktory consumers that may get its jobs', async () => {
    const [fn, queue] = [randomUUID(), randomUUID()]
    const seer = await fleet.node('--web-port', '0')
    const lane = `${fn}@${queue}`
    const admin = await seer.peer()
    const page = async (path: string): Promise<string> =>
      (await fetch(`http://127.0.0.1:${seer.web}${path}`)).text()
    const json = async (path: string): Promise<Partial<Answer>> =>
      JSON.parse(await page(`/api/v1/${path}`)) as Partial<Answer>
    const shown = async (): Promise<readonly unknown[]> => {
      const row = (await admin.list('status')).find((line) => line.startsWith(`${lane}\t`))
      const scale = await json(`scale?function=${fn}&queue=${queue}`)
      const list = await json(`functions?contains=${fn}&sort=name`)
      const series = `crossgear_function_workers{function="${fn}",queue="${queue}"} `
      const metric = (await page('/metrics')).split('\n').find((line) => line.startsWith(series))
      const entry = list.functions?.find((one) => one.lane === lane)
      return [row?.split('\t')[3], scale.workers, entry?.workers, metric?.slice(series.length)]
    }
    const shows = (workers: number): Promise<void> =>
      vi.waitFor(async () => {
        expect(await shown()).toEqual([`${workers}`, workers, workers, `${workers}`])
      }, soon)
    const client = await fleet.first.peer()
    await client.submit('SUBMIT_JOB_BG', lane, '', 'x')
    const worker = await fleet.first.peer(fn)
    await fleet.counted(lane, 1)
    const plain = await fleet.first.client({ wid: randomUUID() })
    plain.send(`FETCH ${queue}`)
    await fleet.counted(lane, 2)
    await shows(1)
    await worker.leave()
    await fleet.counted(lane, 1)
    await shows(0)
    const labels = [`fn:${fn}`]
    const labelled = await seer.client({ wid: randomUUID(), labels })
    labelled.send(`FETCH ${queue}`)
    await fleet.counted(lane, 2)
    await shows(1)
    labelled.close()
    await shows(0)
    const producer = await fleet.first.client()
    producer.send(`PUSH {"jid":"${randomUUID()}","jobtype":"${fn}","queue":"${queue}","args":[]}`)
    await shows(1)
    plain.close()
    await shows(0)
    await seer.stop()
  })

  test('follows workers that disconnect without notice', async () => {
    const fn = randomUUID()
    const workers = await gearmanWorkers(fleet.first, fn, 3)
    await fleet.counted(fn, 3)
    await workers[0]?.leave()
    await fleet.counted(fn, 2)
    workers[1]?.send('CANT_DO', fn)
    await fleet.counted(fn, 1)
  })

  test('is corrected by another node within 5 s of a kill -9', async () => {
    const fn = randomUUID()
    const [doomed, native] = [await fleet.node(), fleet.redis]
    await Promise.all([gearmanWorkers(fleet.first, fn, 1), gearmanWorkers(doomed, fn, 3)])
    await native.incr(`count:${fn}`)
    const consumers = await Promise.all(
      [1, 2].map((wid) => doomed.client({ wid: `w${wid}`, pid: wid })),
    )
    for (const consumer of consumers) consumer.send('FETCH default')
    await vi.waitFor(async () => {
      expect(Number(await native.get(`count:${fn}`))).toBeGreaterThanOrEqual(7)
    }, soon)
    await doomed.kill()
    await fleet.counted(fn, 2)
    expect(await native.hgetall(`xg:lane:${fn}`)).not.toHaveProperty('consumers', '2')
  })

  test('is right again after Redis came back empty', async () => {
    const fn = randomUUID()
    await gearmanWorkers(fleet.first, fn, 2)
    await fleet.counted(fn, 2)
    await fleet.server.kill()
    await fleet.server.start()
    await fleet.counted(fn, 2)
  })

  test('is right after workers left while Redis was frozen', async () => {
    const fn = randomUUID()
    const workers = await gearmanWorkers(fleet.first, fn, 3)
    await fleet.counted(fn, 3)
    fleet.server.freeze()
    await Promise.all(workers.slice(0, 2).map((worker) => worker.leave()))
    fleet.server.thaw()
    await fleet.counted(fn, 1)
  })
})
