import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { SpecPeer, type SpecWorker } from '@crossgear/tools/spec-peer'
import { soon } from '@crossgear/tools/wait-for'
import { stoppableLooks } from '../support/schedulers.ts'
import { describeGearman } from '../doors/gearman/support/gearman-gateway.ts'
import { describeFleet } from './support/fleet.ts'

describeGearman('a native worker', (gateways) => {
  test('reaches a client at once, round after round, by events alone', async () => {
    const looks = stoppableLooks()
    const gateway = await gateways.open({ schedulerClock: looks.clock })
    const native = new SpecPeer(gateways.connection()).worker('mail')
    await native.start()
    const client = await gateway.peer()
    for (let round = 0; round < 40; round += 1) {
      const handle = await client.submit('SUBMIT_JOB', 'mail', '', 'in')
      const { id } = (await native.next()) ?? { id: 0 }
      await native.finish(id, 'out')
      expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'out'])
      // By now the gateway has found out that there is a native worker.
      looks.stop()
    }
    await native.stop()
  })
})

describeFleet('a native worker of jobs from a gateway', [], (fleet) => {
  async function worker(fn: string): Promise<SpecWorker> {
    const started = new SpecPeer(fleet.redis).worker(fn)
    await started.start()
    return started
  }

  test('reports progress and result to a Gearman client', async () => {
    const fn = randomUUID()
    const native = await worker(fn)
    const client = await fleet.first.peer()
    const handle = await client.submit('SUBMIT_JOB', fn, '', 'in')
    const { id } = (await native.next()) ?? { id: 0 }
    await native.update(id, 1, 4)
    expect(await client.receive()).toEqual(['WORK_STATUS', handle, '1', '4'])
    await native.update(id, 2, 4)
    expect(await client.receive()).toEqual(['WORK_STATUS', handle, '2', '4'])
    await native.finish(id, 'out')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'out'])
    expect(await fleet.redis.exists(`job:${fn}:${id}`)).toBe(0)
    await native.stop()
  })

  test('leaves no trace of a background job in the indexes', async () => {
    const fn = randomUUID()
    const native = await worker(fn)
    const client = await fleet.first.peer()
    for (const unique of ['one', 'two']) await client.submit('SUBMIT_JOB_BG', fn, unique, 'in')
    for (const unique of ['one', 'two']) {
      const { id } = (await native.next()) ?? { id: 0 }
      expect(await fleet.redis.hget(`xg:unique:${fn}`, unique)).toBe(String(id))
      await native.finish(id, 'out')
    }
    await vi.waitFor(async () => {
      expect(await fleet.redis.exists(`xg:unique:${fn}`, `job:${fn}:1`, `job:${fn}:2`)).toBe(0)
    }, soon)
    await native.stop()
  })

  test('that reports an error does not end a Faktory job with retries left', async () => {
    const fn = randomUUID()
    const native = await worker(fn)
    const producer = await fleet.first.client()
    const jid = randomUUID()
    await producer.push(jid, { jobtype: fn, retry: 3 })
    const { id } = (await native.next()) ?? { id: 0 }
    await native.finish(id, 'broken', 'error')
    await vi.waitFor(async () => {
      expect(await fleet.redis.zscore(`queue:${fn}:scheduled`, id)).not.toBeNull()
    }, soon)
    expect(await fleet.redis.hget(`job:${fn}:${id}`, 'status')).toBe('idle')
    expect(await fleet.redis.ttl(`job:${fn}:${id}`)).toBe(-1)
    const failure = await fleet.redis.hget(`job:${fn}:${id}`, 'failure')
    expect(JSON.parse(failure ?? '{}')).toMatchObject({ message: 'broken', remaining: 3 })
    await native.stop()
  })

  test('that ends jobs while all gateways are down is settled when one starts', async () => {
    const fn = randomUUID()
    const [native, lonely] = [await worker(fn), await fleet.node()]
    const client = await lonely.peer()
    for (const unique of ['one', '-']) await client.submit('SUBMIT_JOB_BG', fn, unique, 'in')
    await Promise.all([lonely.kill(), fleet.first.kill()])
    for (let job = 0; job < 2; job += 1) {
      const { id } = (await native.next()) ?? { id: 0 }
      await native.finish(id, 'out')
    }
    expect(await fleet.redis.exists(`job:${fn}:1`, `job:${fn}:2`, `xg:unique:${fn}`)).toBe(3)
    await fleet.node()
    await vi.waitFor(async () => {
      const left = await fleet.redis.exists(`job:${fn}:1`, `job:${fn}:2`, `xg:unique:${fn}`)
      expect(left).toBe(0)
    }, soon)
    await native.stop()
  })

  test('that died has its jobs requeued where repairs are on, and is reported in the metrics', async () => {
    const fn = randomUUID()
    await fleet.stopNodes()
    const [dead, repairing] = [
      await worker(fn),
      await fleet.node('--repair', 'on', '--repair-lease-seconds', '1', '--web-port', '0'),
    ]
    const id = await new SpecPeer(fleet.redis).submit(fn, 'in')
    expect((await dead.next())?.id).toBe(id)
    dead.abandon()
    const next = await repairing.peer()
    next.send('CAN_DO', fn).send('PRE_SLEEP')
    expect(await next.receive()).toEqual(['NOOP'])
    const [name, , , input] = await next.ask('GRAB_JOB')
    expect([name, input]).toEqual(['JOB_ASSIGN', 'in'])
    const page = await fetch(`http://127.0.0.1:${repairing.web}/metrics`)
    expect(await page.text()).toContain('crossgear_repairs_total{kind="busy",done="yes"} 1')
  })
})
