import { randomUUID } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { encodeRequest } from '@crossgear/gearman-codec'
import { GearMonkeyClient, GearMonkeyWorker } from '@crossgear/gearmonkey-redis'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { GearmanPeer } from '../doors/gearman/support/gearman-peer.ts'
import { Fleet } from './support/fleet.ts'

const teamSize = 100
const jobsOfEachDoor = 10_000
const total = 2 * jobsOfEachDoor

/** How often each job was done, and by which kind of worker. */
class Tally {
  readonly times = new Uint8Array(total)
  readonly by = { native: 0, gearman: 0 }
  readonly all: Promise<void>
  #left = total
  #end: () => void = () => undefined

  constructor() {
    this.all = new Promise((resolve) => (this.#end = resolve))
  }

  done(kind: 'native' | 'gearman', input: Buffer): void {
    const job = Number(input.toString('latin1'))
    this.by[kind] += 1
    this.times[job] = (this.times[job] ?? 0) + 1
    this.#left -= 1
    if (this.#left === 0) this.#end()
  }
}

async function gearmanWorker(port: number, fn: string, tally: Tally): Promise<GearmanPeer> {
  const worker = (await GearmanPeer.connect(port)).send('CAN_DO', fn)
  const work = async (): Promise<void> => {
    worker.send('GRAB_JOB')
    for (;;) {
      const [name, handle = '', , input = ''] = await worker.receive()
      if (name === 'JOB_ASSIGN') {
        tally.done('gearman', Buffer.from(input))
        worker.send('WORK_COMPLETE', handle, 'done').send('GRAB_JOB')
      } else worker.send(name === 'NO_JOB' ? 'PRE_SLEEP' : 'GRAB_JOB')
    }
  }
  void work()
  return worker
}

/** Submits numbered background jobs, many under way at a time. */
async function submitAll(port: number, fn: string, from: number): Promise<void> {
  const client = await GearmanPeer.connect(port)
  for (let at = 0; at < jobsOfEachDoor; at += 500) {
    const jobs = Array.from({ length: 500 }, (_none, index) =>
      encodeRequest('SUBMIT_JOB_BG', fn, '', Buffer.from(String(from + at + index))),
    )
    client.sendBytes(Buffer.concat(jobs))
    await client.receiveMany(500)
  }
  await client.leave()
}

describe.skipIf(lacksRedis)('one function of many workers', { timeout: 180_000 }, () => {
  const fleet = Fleet.ofSuite()

  test(`${teamSize} native and ${teamSize} gateway workers share ${total} jobs, each done once`, async () => {
    const fn = `shared-${randomUUID()}`
    const tally = new Tally()
    const natives = Array.from({ length: teamSize }, () => new GearMonkeyWorker(fleet.server.url))
    await Promise.all(
      natives.map((worker) => worker.accept(fn, ({ input }) => tally.done('native', input))),
    )
    const behind = await Promise.all(
      natives.map(() => gearmanWorker(fleet.first.gearman, fn, tally)),
    )
    const { redis } = fleet
    await fleet.counted(fn, 2 * teamSize)

    const client = new GearMonkeyClient(fleet.server.url)
    const inputs = Array.from({ length: jobsOfEachDoor }, (_none, at) => String(at))
    const submitNatively = async (): Promise<void> => {
      for (let at = 0; at < inputs.length; at += 1_000) {
        await client.runMany(fn, inputs.slice(at, at + 1_000), { rollCall: true })
      }
    }
    await Promise.all([submitNatively(), submitAll(fleet.first.gearman, fn, jobsOfEachDoor)])
    await tally.all

    // A worker that leaves with a job in its hands gives it back: what it said of its last is waited for.
    await vi.waitFor(async () => expect(await redis.exists(`xg:busy:${fn}`)).toBe(0), soon)
    await Promise.all([
      ...natives.map((worker) => worker.stop()),
      ...behind.map((worker) => worker.leave()),
    ])
    expect(new Set(tally.times)).toEqual(new Set([1]))
    expect(Math.min(tally.by.native, tally.by.gearman)).toBeGreaterThan(total / 100)
    await fleet.counted(fn, 0)
    await vi.waitFor(async () => {
      const left = await redis.keys(`job:${fn}:*`)
      // Jobs of native clients stay for 25 hours; the rest leaves nothing.
      expect(left).toHaveLength(jobsOfEachDoor)
    }, soon)
    expect(await redis.keys(`queue:${fn}:*`)).toEqual([])
    expect(await redis.exists(`xg:busy:${fn}`)).toBe(0)
    expect(await checkInvariants(redis, { strays: true })).toEqual([])
    client.close()
  })
})
