import { LaneNames, type Lease } from '@crossgear/core-scheduler'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { RedisStore, type StandingJob } from '@crossgear/redis-store'
import { RedisServer } from '@crossgear/tools/redis-server'
import { rollback, type RollbackCounts } from '../../src/acts/rollback.ts'
import type { RunOptions } from '../../src/acts/options.ts'
import { run, type RunResult } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import { type Verification, verifyCopy } from '../../src/acts/verify.ts'
import type { Reject } from '../../src/record/record.ts'
import type { Source } from '../../src/source.ts'
import { StoreTarget } from '../../src/targets/store-target.ts'

interface Taking extends RunOptions {
  /** The run is stopped when so many jobs have been read. It goes to its end. */
  readonly stopAfter?: number
}

export interface Taken extends RunResult {
  readonly rejects: readonly Reject[]
}

/** A store of the test's own to move jobs into. */
export class TestTarget {
  readonly server: RedisServer
  readonly store: RedisStore
  readonly names = new LaneNames()

  private constructor(server: RedisServer, store: RedisStore) {
    this.server = server
    this.store = store
  }

  static async open(): Promise<TestTarget> {
    const server = await RedisServer.start()
    const store = new RedisStore({ path: server.path })
    await store.open()
    return new TestTarget(server, store)
  }

  as(name: string): StoreTarget {
    return new StoreTarget(this.store, this.names, name)
  }

  /** Runs a source into the store, and closes it. */
  async take(source: Source, { stopAfter = Infinity, ...options }: Taking): Promise<Taken> {
    const rejects: Reject[] = []
    const stop = new AbortController()
    const [store, selection] = [this.as(options.name), new Selection()]
    try {
      const result = await run({
        source,
        target: store,
        ledger: store,
        selection,
        options,
        signal: stop.signal,
        onReject: (reject) => rejects.push(reject),
        onProgress: ({ read }) => {
          if (read >= stopAfter) stop.abort()
        },
      })
      return { ...result, rejects }
    } finally {
      await source.close()
    }
  }

  /** A consumer takes all jobs of a queue, one after the other. */
  async consumed(queue: string, lanes: readonly string[]): Promise<readonly Lease[]> {
    const taken: Lease[] = []
    const ended = { kind: 'complete', output: Buffer.alloc(0) } as const
    const claim = { by: 'consumer', groups: [{ lanes, queue }], max: 1 } as const
    for (;;) {
      const [job] = await this.store.steps.claim(claim)
      if (!job) return taken
      taken.push(job)
      await this.store.steps.finish(job.lane, [{ ...job, ...ended }])
    }
  }

  /** Compares a source with the store, and closes it. */
  async verify(source: Source, name: string): Promise<Verification> {
    const parts = { imports: this.store.imports, names: this.names, options: { name } }
    try {
      return await verifyCopy(source, new Selection(), parts)
    } finally {
      await source.close()
    }
  }

  /** Takes a migration back, to its source, which is closed. */
  async rollBack(source: Source, name: string): Promise<RollbackCounts> {
    try {
      return await rollback({ imports: this.store.imports, names: this.names, name, source })
    } finally {
      await source.close()
    }
  }

  async clear(): Promise<void> {
    await this.server.ask('FLUSHALL')
  }

  /** All jobs that stand in a lane, by id. */
  async jobs(lane: string): Promise<StandingJob[]> {
    const last = Number(await this.server.ask('GET', `uid:${lane}`))
    const ids = Array.from({ length: last }, (_none, at) => at + 1)
    const found = await this.store.imports.jobsInLane(lane, ids)
    return found.flatMap((job) => job ?? [])
  }

  async violations(): Promise<readonly string[]> {
    return checkInvariants(this.server.connect())
  }

  async close(): Promise<void> {
    await this.store.close()
    await this.server.stop()
  }
}
