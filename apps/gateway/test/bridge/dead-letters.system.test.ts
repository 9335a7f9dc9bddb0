import { randomUUID } from 'node:crypto'
import { soon } from '@crossgear/tools/wait-for'
import { expect, onTestFinished, test, vi } from 'vitest'
import { GearMonkeyClient, GearMonkeyWorker } from '@crossgear/gearmonkey-redis'
import type { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import type { GearmanPeer } from '../doors/gearman/support/gearman-peer.ts'
import { background } from '../doors/http/support/http-client.ts'
import { describeFleet } from './support/fleet.ts'

/** Gets the next job, says that it failed, and returns its input. */
async function fail(worker: GearmanPeer): Promise<string> {
  const { handle, input } = await worker.nextJob()
  await worker.send('WORK_FAIL', handle).sync()
  return input
}

const words = ['--http-port', '0', '--job-retries', '1']

describeFleet('a background job that failed for good', words, (fleet) => {
  async function sets(client: FwpClient): Promise<Record<string, number>> {
    const { faktory } = (await client.askJson('INFO')) as unknown as {
      readonly faktory: { readonly sets: Record<string, number> }
    }
    return faktory.sets
  }

  async function dead(fn: string, count = 1): Promise<string> {
    await vi.waitFor(async () => {
      expect(await fleet.redis.zcard(`xg:dead:${fn}`)).toBe(count)
    }, soon)
    const [id = ''] = await fleet.redis.zrange(`xg:dead:${fn}`, '0', '0')
    return id
  }

  const doors: Readonly<Record<string, (fn: string) => Promise<unknown>>> = {
    SUBMIT_JOB_BG: async (fn) => (await fleet.first.peer()).submit('SUBMIT_JOB_BG', fn, '', 'x'),
    SUBMIT_JOB_EPOCH: async (fn) =>
      (await fleet.first.peer()).submit('SUBMIT_JOB_EPOCH', fn, '', '1', 'x'),
    'HTTP in the background': async (fn) =>
      fetch(`http://127.0.0.1:${fleet.first.http}/${fn}`, {
        method: 'POST',
        body: 'x',
        headers: background,
      }),
    'a native client': async (fn) => {
      const client = new GearMonkeyClient(fleet.server.url)
      await client.run(fn, 'x').finally(() => client.close())
    },
  }

  test.each(Object.keys(doors))(
    'from %s becomes a dead job, and is done after a requeue',
    async (door) => {
      const fn = `fn-${randomUUID()}`
      const worker = await fleet.first.peer(fn)
      await doors[door]?.(fn)
      expect(await fail(worker)).toBe('x')
      const id = await dead(fn)
      const failure = await fleet.redis.hget(`job:${fn}:${id}`, 'failure')
      expect(JSON.parse(failure ?? '')).toMatchObject({ retry_count: 0, remaining: 0 })
      const client = await fleet.first.client()
      expect(await sets(client)).toMatchObject({ dead: 1, working: 0 })
      const filter = { jobtype: fn }
      const requeue = { cmd: 'requeue', target: 'dead', filter }
      expect(await client.ask(`MUTATE ${JSON.stringify(requeue)}`)).toBe('+OK')
      expect(await worker.doNextJob()).toBe('x')
      expect(await sets(client)).toMatchObject({ dead: 0, working: 0 })
    },
  )

  test('is found by its Faktory form, blocks no unique key, and can be deleted', async () => {
    const fn = `fn-${randomUUID()}`
    const [worker, client] = [await fleet.first.peer(fn), await fleet.first.peer()]
    const first = await client.submit('SUBMIT_JOB_BG', fn, 'one', 'x')
    await fail(worker)
    await dead(fn)
    expect(await client.submit('SUBMIT_JOB_BG', fn, 'one', 'again')).not.toBe(first)
    expect(await worker.doNextJob()).toBe('again')
    const mutate = (regexp: string): string =>
      `MUTATE ${JSON.stringify({ cmd: 'discard', target: 'dead', filter: { regexp } })}`
    const fwp = await fleet.first.client()
    await fwp.ask(mutate('*"jobtype":"other"*'))
    await dead(fn)
    await fwp.ask(mutate(`*"failure":{*"jobtype":"${fn}"*`))
    await vi.waitFor(async () => expect(await fleet.redis.zcard(`xg:dead:${fn}`)).toBe(0), soon)
    expect(await fleet.redis.keys(`job:${fn}:*`)).toEqual([])
  })

  test('is dead when its worker vanished once too often; a foreground one is not kept', async () => {
    const fn = `fn-${randomUUID()}`
    const client = await fleet.first.peer()
    await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    const handle = await client.submit('SUBMIT_JOB', fn, '', 'y')
    for (let job = 0; job < 2; job += 1) {
      const worker = await fleet.first.peer(fn)
      expect((await worker.ask('GRAB_JOB'))[0]).toBe('JOB_ASSIGN')
      await worker.leave()
    }
    expect(await client.receive()).toEqual(['WORK_FAIL', handle])
    const id = await dead(fn)
    const failure = await fleet.redis.hget(`job:${fn}:${id}`, 'failure')
    expect(JSON.parse(failure ?? '')).toMatchObject({ errtype: 'WorkersLost' })
  })

  test('at a native worker is dead', async () => {
    const fn = `fn-${randomUUID()}`
    const worker = new GearMonkeyWorker(fleet.server.url)
    onTestFinished(() => worker.stop())
    await worker.accept(fn, () => {
      throw new Error('broken')
    })
    await (await fleet.first.peer()).submit('SUBMIT_JOB_BG', fn, '', 'x')
    await dead(fn)
    expect(await fleet.redis.hget(`job:${fn}:1`, 'output')).toContain('broken')
  })
})
