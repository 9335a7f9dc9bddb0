import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { dueScriptSha1, SpecPeer } from '@crossgear/tools/spec-peer'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import type { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import { Fleet, type FleetNode } from './support/fleet.ts'

const jid = 'second-try'

describe.skipIf(lacksRedis).each([1, 2])('with %i gateways', (nodes) => {
  // Nobody brings the outcome of a worker that died: there is nothing to wait for at the end.
  const words = ['--drain-seconds', '0']
  const fleet = Fleet.ofSuite(words)
  let last: FleetNode
  beforeAll(async () => {
    last = nodes === 1 ? fleet.first : await fleet.node(...words)
  })

  async function state(client: FwpClient): Promise<unknown> {
    return (await client.askJson(`TRACK GET ${jid}`))['state']
  }

  /** Waits until the job waits for its next try, and lets the operator cut that short. */
  async function tryAgain(client: FwpClient): Promise<void> {
    await vi.waitFor(async () => expect(await state(client)).toBe('failed'), soon)
    const command = { cmd: 'requeue', target: 'retries', filter: { jids: [jid] } }
    expect(await client.ask(`MUTATE ${JSON.stringify(command)}`)).toBe('+OK')
  }

  test('a Gearman worker fails a Faktory job three times and then does it', async () => {
    const jobtype = `fickle-${randomUUID()}`
    const producer = await fleet.first.client()
    const worker = await last.peer(jobtype)
    const job = { jobtype, args: ['x'], retry: 3, custom: { track: 1 } }
    expect(await producer.push(jid, job)).toBe('+OK')
    for (const failure of ['WORK_FAIL', 'WORK_EXCEPTION', 'WORK_FAIL'] as const) {
      const { handle, input } = await worker.nextJob()
      expect(input).toBe('x')
      if (failure === 'WORK_FAIL') worker.send(failure, handle)
      else worker.send(failure, handle, 'no luck').send('WORK_FAIL', handle)
      await tryAgain(producer)
    }
    const { handle } = await worker.nextJob()
    const failure = await fleet.redis.hget(`job:${jobtype}:1`, 'failure')
    expect(JSON.parse(failure ?? '')).toMatchObject({ retry_count: 2, remaining: 1 })
    worker.send('WORK_COMPLETE', handle, 'at last')
    await vi.waitFor(async () => expect(await state(producer)).toBe('success'), soon)
    expect(await producer.askJson(`TRACK GET ${jid}`)).toMatchObject({ result: 'at last' })
    const { faktory: info } = await producer.askJson('INFO')
    expect(info).toMatchObject({ total_processed: 4, total_failures: 3, sets: { dead: 0 } })
  })

  test("a native worker takes a due retry with its protocol's script, and does it", async () => {
    const jobtype = `due-${randomUUID()}`
    const producer = await fleet.first.client()
    const worker = await last.peer(jobtype)
    await producer.push(jid, { jobtype, args: ['x'], custom: { track: 1 } })
    const { handle } = await worker.nextJob()
    worker.send('WORK_FAIL', handle)
    await vi.waitFor(async () => expect(await state(producer)).toBe('failed'), soon)

    const native = new SpecPeer(fleet.redis).worker(jobtype)
    await native.start()
    const key = `queue:${jobtype}:scheduled`
    // In one step, so that no gateway comes first: its time has come, and a native worker looks.
    const steps = fleet.redis.multi().zadd(key, 'XX', '1', '1')
    const now = String(Math.floor(Date.now() / 1000))
    const [, popped] = (await steps.evalsha(dueScriptSha1, 1, key, now).exec()) ?? []
    expect(popped).toEqual([null, [key, '1']])
    const { id, input } = await native.begin(1)
    expect(input.toString()).toBe('x')
    await native.finish(id, 'native did it')
    await vi.waitFor(async () => expect(await state(producer)).toBe('success'), soon)
    expect(await producer.askJson(`TRACK GET ${jid}`)).toMatchObject({ result: 'native did it' })
    await native.stop()
  })

  test('a Gearman client’s foreground job whose Faktory worker died is done by another', async () => {
    const fn = `orphan-${randomUUID()}`
    const client = await fleet.first.peer()
    await client.submit('SUBMIT_JOB', fn, '', 'payload')
    const dying = await last.client({ wid: `dying-${fn}` })
    expect(await dying.askJson('FETCH')).toMatchObject({ jobtype: fn, args: ['payload'] })
    dying.close()
    // As if its half hour were over.
    expect(await fleet.redis.zadd(`xg:busy:${fn}`, 'XX', 'CH', 1, 1)).toBe(1)
    const next = await last.client({ wid: `next-${fn}` })
    let reply = '$-1'
    while (reply === '$-1') reply = await next.ask('FETCH')
    const job = JSON.parse(reply.slice(reply.indexOf('{'))) as { jid: string; jobtype: string }
    expect(job.jobtype).toBe(fn)
    const done = JSON.stringify({ jid: job.jid, result: 'done' })
    expect(await next.ask(`ACK ${done}`)).toBe('+OK')
    const [name, , output] = await client.receive()
    expect([name, output]).toEqual(['WORK_COMPLETE', 'done'])
  })

  test('leaves the store in order', async () => {
    await vi.waitFor(async () => {
      expect(await checkInvariants(fleet.redis, { native: true })).toEqual([])
    }, soon)
  })
})
