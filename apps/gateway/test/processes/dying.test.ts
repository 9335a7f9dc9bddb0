import { connect } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import {
  isAlive,
  patience,
  sharedByTests,
  type SharedGateway,
  startShared,
} from './support/shared-gateway.ts'

const submitted = 'crossgear_jobs_submitted_total{function="work",door="gearman"}'
const restarts = 'crossgear_process_restarts_total'

/** Two workers of two processes, each with a job in hand. */
async function twoAtWork(gateway: SharedGateway) {
  const workers = [await gateway.gearman(), await gateway.gearman()] as const
  const client = await gateway.gearman()
  for (const worker of workers) worker.say('CAN_DO', 'work')
  for (const job of ['a', 'b']) await client.submit('SUBMIT_JOB_BG', 'work', '', job)
  const inHand = []
  for (const worker of workers) {
    const [name, handle = '', , job = ''] = await worker.ask('GRAB_JOB')
    expect(name).toBe('JOB_ASSIGN')
    inHand.push({ worker, handle, job })
  }
  return inHand
}

describe.skipIf(lacksRedis)('of two processes', () => {
  const shared = sharedByTests()

  test('one is killed: its job goes to a worker of the other, and it is started again', async () => {
    const gateway = await shared()
    const before = {
      parts: (await gateway.parts()).length,
      restarts: (await gateway.metric(restarts)) ?? 0,
      submitted: (await gateway.metric(submitted)) ?? 0,
    }
    const [one, other] = await twoAtWork(gateway)
    await gateway.figure(submitted, before.submitted + 2)
    const [first] = await gateway.live()
    process.kill(first!.pid, 'SIGKILL')
    const lost = await Promise.race(
      [one!, other!].map((peer) => peer.worker.ended().then(() => peer)),
    )
    const left = lost === one ? other! : one!
    await vi.waitFor(async () => {
      expect(await left.worker.ask('GRAB_JOB')).toEqual([
        'JOB_ASSIGN',
        lost.handle,
        'work',
        lost.job,
      ])
    }, patience)
    left.worker.say('WORK_COMPLETE', lost.handle, 'x').say('WORK_COMPLETE', left.handle, 'x')
    await left.worker.sync()

    const parts = await gateway.parts(before.parts + 1)
    expect(new Set(parts.map(({ node }) => node)).size).toBe(before.parts + 1)
    await vi.waitFor(async () => expect((await gateway.page('/readyz')).status).toBe(200), patience)
    await gateway.figure(restarts, before.restarts + 1)
    // Figures of the dead process are not lost.
    await gateway.figure(submitted, before.submitted + 2)
    const peers = [await gateway.gearman(), await gateway.gearman(), await gateway.gearman()]
    for (const peer of peers) expect(await peer.command('getpid')).toBe(`OK ${gateway.pid}`)
    expect(
      await gateway.metric('crossgear_jobs{function="work",queue="default",state="waiting"}'),
    ).toBe(0)
  })

  test('both are killed: connections wait until there is one again', async () => {
    const gateway = await shared()
    const ended = /Process \d ended \(signal SIGKILL\)/
    const before = (await gateway.said(ended, 0)).length
    for (const { pid } of await gateway.live()) process.kill(pid, 'SIGKILL')
    await gateway.said(ended, before + 2)
    const peer = await gateway.gearman()
    expect(await peer.command('getpid')).toBe(`OK ${gateway.pid}`)
  })

  test('one stands still: the other serves, and what it was given is served when it goes on', async () => {
    const gateway = await shared()
    const [first] = await gateway.live()
    process.kill(first!.pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(first!.pid, 'SIGCONT'))
    const count = 40
    const peers = Array.from({ length: count }, () =>
      GearmanPeer.connect(gateway.portOf('gearman')),
    )
    let served = 0
    const all = peers.map(async (connecting) => {
      await (await connecting).sync()
      served += 1
    })
    // One is under way to it, and a few wait for it.
    await vi.waitFor(() => expect(served).toBeGreaterThanOrEqual(count - 10), patience)
    const ready = await gateway.page('/readyz')
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('process')])
    process.kill(first!.pid, 'SIGCONT')
    await Promise.all(all)
    for (const connecting of peers) await (await connecting).leave()
  })

  test('one is sent signals, as a terminal does to all: its parent alone says what is done', async () => {
    const gateway = await shared()
    const [first] = await gateway.live()
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(first!.pid, signal)
    const peers = [await gateway.gearman(), await gateway.gearman()]
    for (const peer of peers) await peer.sync()
    expect(isAlive(first!.pid)).toBe(true)
  })

  test('none can start again, the store being there: the gateway ends with 1 and says so', async () => {
    const gateway = await startShared()
    await gateway.redis.ask('REPLICAOF', '127.0.0.1', '1')
    for (const { pid } of await gateway.parts()) process.kill(pid, 'SIGKILL')
    const { code, stdout } = await gateway.exited
    expect(code).toBe(1)
    expect(stdout).toMatch(/The gateway ends: process \d did not start, 5 times in a row\./)
  })
})

describe.skipIf(lacksRedis)('a gateway of two processes', () => {
  test('that is told to stop takes the outcomes of running jobs, and leaves no process', async () => {
    const gateway = await startShared()
    const atWork = await twoAtWork(gateway)
    gateway.child.kill('SIGTERM')
    await gateway.said(/"Stopping/)
    await vi.waitFor(async () => {
      const refused = await new Promise((resolve) => {
        const socket = connect(gateway.portOf('gearman'), '127.0.0.1')
        socket.once('error', () => resolve(true)).once('connect', () => resolve(false))
        socket.unref()
      })
      expect(refused).toBe(true)
    }, patience)
    for (const { worker, handle } of atWork) worker.say('WORK_COMPLETE', handle, 'x')
    const { code, stdout } = await gateway.exited
    expect(code).toBe(0)
    expect(stdout).not.toContain('Some jobs are still running')
    for (const { pid } of await gateway.parts()) expect(isAlive(pid)).toBe(false)
    expect(await gateway.redis.ask('ZCARD', 'xg:nodes')).toBe('0')
  })

  test('whose parent is killed ends, when the jobs in hand have', async () => {
    const gateway = await startShared()
    const atWork = await twoAtWork(gateway)
    gateway.child.kill('SIGKILL')
    for (const { worker, handle } of atWork) worker.say('WORK_COMPLETE', handle, 'x')
    for (const { worker } of atWork) await worker.ended()
    await vi.waitFor(async () => {
      for (const { pid } of await gateway.parts()) expect(isAlive(pid)).toBe(false)
    }, patience)
    expect(await gateway.redis.ask('KEYS', 'job:*')).toBe('')
  })
})
