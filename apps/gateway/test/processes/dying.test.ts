import { connect } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import {
  isAlive,
  patience,
  sharedByTests,
  type SharedGateway,
  startShared,
} from './support/shared-gateway.ts'

/** Two workers of two processes, each with a job in hand. */
async function twoAtWork(gateway: SharedGateway) {
  const workers = await gateway.both()
  const client = await gateway.gearman()
  for (const worker of workers) worker.send('CAN_DO', 'work')
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

  test('one is killed: its job goes to a worker of the other, and the process is restarted', async () => {
    const gateway = await shared()
    const before = (await gateway.parts()).length
    const [one, other] = await twoAtWork(gateway)
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
    left.worker.send('WORK_COMPLETE', lost.handle, 'x').send('WORK_COMPLETE', left.handle, 'x')
    await left.worker.sync()

    const parts = await gateway.parts(before + 1)
    expect(new Set(parts.map(({ node }) => node)).size).toBe(before + 1)
    await gateway.said(/Process \d is running again/)
    const peers = await gateway.both()
    for (const peer of peers) expect(await peer.command('getpid')).toBe(`OK ${gateway.pid}`)
    expect(await gateway.redis.ask('KEYS', 'job:*')).toBe('')
  })

  test('both are killed: connections wait until one is running again', async () => {
    const gateway = await shared()
    const ended = /Process \d ended \(signal SIGKILL\)/
    const before = (await gateway.said(ended, 0)).length
    for (const { pid } of await gateway.live()) process.kill(pid, 'SIGKILL')
    await gateway.said(ended, before + 2)
    const peer = await gateway.gearman()
    expect(await peer.command('getpid')).toBe(`OK ${gateway.pid}`)
  })

  test('one is frozen: the other serves all new clients', async () => {
    const gateway = await shared()
    const [first] = await gateway.live()
    process.kill(first!.pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(first!.pid, 'SIGCONT'))
    await Promise.all(Array.from({ length: 40 }, () => gateway.gearman()))
  })

  test('one is stopped: it accepts the outcome of its job, and another replaces it', async () => {
    const gateway = await shared()
    const before = (await gateway.parts()).length
    const atWork = await twoAtWork(gateway)
    const [first] = await gateway.live()
    process.kill(first!.pid, 'SIGTERM')
    await gateway.said(new RegExp(`"process":${first!.process},.*"Stopping \\(SIGTERM\\)`))
    for (const { worker, handle } of atWork) worker.send('WORK_COMPLETE', handle, 'x')
    await Promise.race(atWork.map(({ worker }) => worker.ended()))
    await gateway.parts(before + 1)
    expect(await gateway.redis.ask('KEYS', 'job:*')).toBe('')
  })

  test('none can start again although the store is reachable: the gateway logs that and ends with 1', async () => {
    const gateway = await startShared()
    await gateway.redis.ask('REPLICAOF', '127.0.0.1', '1')
    for (const { pid } of await gateway.parts()) process.kill(pid, 'SIGKILL')
    const { code, stdout } = await gateway.exited
    expect(code).toBe(1)
    expect(stdout).toMatch(/The gateway ends: process \d did not start, 5 times in a row\./)
  })
})

describe.skipIf(lacksRedis)('a gateway of two processes', () => {
  test('that is stopped accepts the outcomes of running jobs, and leaves no process', async () => {
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
    for (const { worker, handle } of atWork) worker.send('WORK_COMPLETE', handle, 'x')
    const { code, stdout } = await gateway.exited
    expect(code).toBe(0)
    expect(stdout).not.toContain('Some jobs are still running')
    for (const { pid } of await gateway.parts()) expect(isAlive(pid)).toBe(false)
    expect(await gateway.redis.ask('ZCARD', 'xg:nodes')).toBe('0')
  })

  test('whose parent is killed ends after its running jobs', async () => {
    const gateway = await startShared()
    const atWork = await twoAtWork(gateway)
    gateway.child.kill('SIGKILL')
    for (const { worker, handle } of atWork) worker.send('WORK_COMPLETE', handle, 'x')
    for (const { worker } of atWork) await worker.ended()
    await vi.waitFor(async () => {
      for (const { pid } of await gateway.parts()) expect(isAlive(pid)).toBe(false)
    }, patience)
    expect(await gateway.redis.ask('KEYS', 'job:*')).toBe('')
  })
})
