import { jobEnds, type Band } from '@crossgear/core-scheduler'
import type { MemoryJob } from '../memory-job.ts'
import type { MemoryWorld } from '../memory-world.ts'
import type { NativePeer } from '../../contract/store-world.ts'

/** A GearMonkey client and worker on a store in memory. */
export class MemoryNative implements NativePeer {
  readonly #world: MemoryWorld

  constructor(world: MemoryWorld) {
    this.#world = world
  }

  write(lane: string, input: Uint8Array): Promise<number> {
    const target = this.#world.lane(lane)
    const id = target.nextId()
    target.add(nativeJob(id, input))
    this.#world.announce(lane, 'create', id)
    return Promise.resolve(id)
  }

  setLastId(lane: string, id: number): Promise<void> {
    this.#world.lane(lane).lastId = id
    return Promise.resolve()
  }

  push(lane: string, id: number, band: Band): Promise<void> {
    this.#world.lane(lane).queues[band].push(id)
    return Promise.resolve()
  }

  schedule(lane: string, id: number, dueInMs: number): Promise<void> {
    this.#world.lane(lane).scheduled.set(id, this.#world.nowMs() + dueInMs)
    return Promise.resolve()
  }

  pop(lane: string): Promise<number | undefined> {
    const target = this.#world.lane(lane)
    const head = target.head()
    if (head) target.queues[head.band].shift()
    return Promise.resolve(head?.id)
  }

  async take(lane: string): Promise<number | undefined> {
    const id = await this.pop(lane)
    if (id === undefined) return undefined
    this.#world.announce(lane, 'start', id)
    this.#job(lane, id).status = 'busy'
    return id
  }

  progress(lane: string, id: number, dividend: string, divisor: string): Promise<void> {
    const job = this.#job(lane, id)
    job.dividend = Buffer.from(dividend)
    job.divisor = Buffer.from(divisor)
    return Promise.resolve()
  }

  mark(lane: string, id: number, mark: 'fg' | 'settled'): Promise<void> {
    this.#job(lane, id)[mark === 'fg' ? 'foreground' : 'settled'] = true
    return Promise.resolve()
  }

  async finish(
    lane: string,
    id: number,
    status: 'success' | 'error',
    output: Uint8Array,
  ): Promise<void> {
    await this.conclude(lane, id, status, output)
    await this.retain(lane, id)
    this.#world.announce(lane, 'finish', id)
    this.#world.lane(lane).releaseLock(id)
  }

  conclude(
    lane: string,
    id: number,
    status: 'success' | 'error',
    output: Uint8Array,
  ): Promise<void> {
    const target = this.#world.lane(lane)
    // HMSET makes a hash again that went meanwhile, as by FLUSH.
    const job = target.job(id, this.#world.nowMs()) ?? nativeJob(id, Buffer.alloc(0))
    target.add(Object.assign(job, { status, output: Buffer.from(output) }))
    return Promise.resolve()
  }

  retain(lane: string, id: number): Promise<void> {
    this.#job(lane, id).expiresAtMs = this.#world.nowMs() + jobEnds.nativeRetention * 1000
    return Promise.resolve()
  }

  count(lane: string, change: 1 | -1): Promise<void> {
    this.#world.lane(lane).nativeWorkers += change
    return Promise.resolve()
  }

  locks(lane: string, id: number): Promise<number> {
    return Promise.resolve(this.#world.lane(lane).locks.get(id) ?? 0)
  }

  #job(lane: string, id: number): MemoryJob {
    const job = this.#world.lane(lane).job(id, this.#world.nowMs())
    if (!job) throw new Error(`no job ${id} in ${lane}`)
    return job
  }
}

function nativeJob(id: number, input: Uint8Array): MemoryJob {
  return {
    id,
    door: 'native',
    input: Buffer.from(input),
    terms: undefined,
    status: 'idle',
    level: undefined,
    settled: false,
    losses: 0,
    waiting: [],
    foreground: false,
  }
}
