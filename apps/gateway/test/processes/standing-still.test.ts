import { testGatewayWords } from '@crossgear/tools/gateway-program'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import type { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import { isAlive, patience, startShared } from './support/shared-gateway.ts'

const impatient = testGatewayWords('impatient-gateway')

function standStill(...pids: readonly number[]): void {
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  onTestFinished(() => goOn(...pids.filter(isAlive)))
}

function goOn(...pids: readonly number[]): void {
  for (const pid of pids) process.kill(pid, 'SIGCONT')
}

/** A worker of each of two processes, with a job in hand. */
async function startAtWork() {
  const gateway = await startShared([], impatient)
  const workers = await gateway.both()
  const client = await gateway.gearman()
  for (const worker of workers) {
    const handle = await client.submit('SUBMIT_JOB_BG', 'work', '', 'x')
    const job = await worker.send('CAN_DO', 'work').ask('GRAB_JOB')
    expect(job).toEqual(['JOB_ASSIGN', handle, 'work', 'x'])
  }
  return { gateway, workers, pids: (await gateway.parts()).map(({ pid }) => pid) }
}

/** A job that another worker held is handed out again. */
async function getsJob(worker: GearmanPeer): Promise<void> {
  await vi.waitFor(async () => {
    expect((await worker.ask('GRAB_JOB'))[0]).toBe('JOB_ASSIGN')
  }, patience)
}

describe.skipIf(lacksRedis)('of two processes', () => {
  test('one that is frozen for too long is killed and restarted', async () => {
    const { gateway, workers, pids } = await startAtWork()
    standStill(pids[0]!)
    const lost = await Promise.race(workers.map((worker) => worker.ended().then(() => worker)))
    await gateway.said(/Process \d sent no heartbeat for 1\.8 s: killing it/)
    await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, true]), patience)
    await getsJob(workers.find((worker) => worker !== lost)!)
    await gateway.parts(3)
    for (const peer of await gateway.both()) await peer.sync()
  })

  test('one that stood still together with its parent, as on a suspended machine, is not killed', async () => {
    const { gateway, workers, pids } = await startAtWork()
    standStill(gateway.pid, pids[0]!)
    const echoes = workers.map((worker) => worker.sync().then(() => worker))
    // For other nodes it is gone after some seconds: longer than its parent would be patient.
    await getsJob(await Promise.race(echoes))
    goOn(pids[0]!, gateway.pid)
    await Promise.all(echoes)
    expect(pids.map(isAlive)).toEqual([true, true])
  })
})
