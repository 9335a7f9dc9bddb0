import { createHash } from 'node:crypto'
import type { NewJob, Throttle } from '@crossgear/core-scheduler'
import { reclaimNode, retried, submitAll, takeOne, killed } from '../contract/kit.ts'
import type { RedisStore } from '../../src/index.ts'
import type { RedisWorld } from '../support/redis-world.ts'

/** Place of the job after an act: it is over, runs, or waits to be run. */
export type After = 'over' | 'runs' | 'waits'

/** A store with a job of each kind in the lane `mail`: the first is acted on, the second waits behind it. */
export interface Scene {
  readonly world: RedisWorld
  readonly store: RedisStore
  readonly throttles: ReadonlyMap<string, Throttle>
  readonly first: number
  readonly second: number
  /** The first job, as it was submitted. */
  readonly job: NewJob
}

export interface Act {
  readonly after: After
  /** The batch of the first job has counted it as failed. */
  readonly hasRun?: true
  /** The second job is over, too. */
  readonly endsAll?: true
  /** The lock of the job is free after it, though the job is not over. */
  readonly forgetsLock?: true
  /** Further fields of the first job. */
  readonly job?: (nowMs: number) => Partial<NewJob>
  /** The batch of the first job has counted it as done. */
  readonly countsAsDone?: true
  /** The id of the first job from then on, if another. */
  readonly newId?: number
  /** The function of the job has turns no more. */
  readonly endsTurns?: true
  /** Features of jobs that this act cannot meet. */
  readonly except?: readonly string[]
  readonly run: (scene: Scene) => Promise<unknown>
}

const places = ['high', 'normal', 'low', 'scheduled', 'dead', 'busy'] as const

async function promoted({ world, store }: Scene, ms: number): Promise<void> {
  await world.pass(ms)
  await store.lanes.promote()
}

/** Reads a job as a whole, ends it, and stores it again, as the undo of a deletion does. */
async function deletedAndBack({ store, first }: Scene): Promise<void> {
  const [standing] = await store.imports.jobsInLane('mail', [first])
  await store.admin.cancel('mail', first, 'deleted')
  const { job, further } = standing!
  const importId = createHash('sha256').update('first').digest().subarray(0, 16)
  const counted = further?.bid === undefined ? further : { ...further, ran: '1' }
  await store.imports.store('mail', Buffer.from('undo'), [
    {
      importId,
      digest: importId.subarray(8),
      place: 'queue',
      door: job.door,
      job,
      arrivedUs: await store.imports.nowUs(),
      ...(counted && { further: counted }),
      ...(standing!.staleAtMs !== undefined && {
        job: { ...job, staleAtMs: standing!.staleAtMs },
      }),
    },
  ])
}

/** All acts that move jobs that wait. */
export const acts: Readonly<Record<string, Act>> = {
  'a claim': { after: 'runs', run: ({ store }) => takeOne(store, 'mail') },
  'cancelling it': {
    after: 'over',
    run: ({ store, first }) => store.admin.cancel('mail', first),
  },
  'cancelling it while it runs': {
    after: 'over',
    run: async ({ store, first }) => {
      await takeOne(store, 'mail')
      await store.admin.cancel('mail', first)
    },
  },
  'deleting it from its queue': {
    after: 'over',
    run: ({ store, first }) => {
      const piece = { lane: 'mail', band: 'normal', from: 0, count: 9, ids: [first] } as const
      return store.queues.endQueued(piece, 'deleted')
    },
  },
  'a flush': {
    after: 'over',
    endsAll: true,
    run: ({ store }) => store.queues.endJobs('mail', places, 99),
  },
  'removing its queue': {
    after: 'over',
    endsAll: true,
    run: ({ store }) => store.queues.endJobs('mail', ['high', 'normal', 'low'], 99),
  },
  'dropping its lane': {
    after: 'over',
    endsAll: true,
    run: ({ store }) => store.admin.dropLane('mail', 99),
  },
  'moving it away': {
    after: 'over',
    run: ({ store, first }) => store.admin.cancel('mail', first, 'moved'),
  },
  'its place being taken by its copy, as by a move to another queue': {
    after: 'waits',
    newId: 3,
    except: ['a unique id', 'a jid', 'a lock', 'a batch', 'a waiting client'],
    run: async ({ store, first, job }) => {
      const { nowMs } = await store.nodes.beat()
      const held = { ...job, isMoved: true, dueAtMs: nowMs + 3_600_000 }
      const [copy = 0] = await submitAll(store, 'mail', [held])
      await store.admin.cancel('mail', first, 'moved')
      await store.queues.moveJobs('mail', 'scheduled', [copy], { dueAtMs: 0 })
    },
  },
  'its replacement by another job': {
    after: 'waits',
    newId: 3,
    except: ['a waiting client'],
    run: async ({ store, first, job: { staleAtMs } }) => {
      const replaced = { input: Buffer.from('other'), origin: '1-1' }
      await store.admin.replace('mail', first, {
        ...replaced,
        ...(staleAtMs !== undefined && { staleAtMs }),
      })
    },
  },
  'its replacement when it is dead': {
    after: 'waits',
    newId: 3,
    hasRun: true,
    except: ['a waiting client'],
    run: async ({ store, first, job: { staleAtMs } }) => {
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      await store.admin.replace('mail', first, {
        origin: '1-1',
        ...(staleAtMs !== undefined && { staleAtMs }),
      })
    },
  },
  'a retry that is due': {
    after: 'waits',
    hasRun: true,
    run: async (scene) => {
      const { store } = scene
      await store.steps.finish('mail', [retried(await takeOne(store, 'mail'), 1_000)])
      await promoted(scene, 2_000)
    },
  },
  'a retry that an operator runs now': {
    after: 'waits',
    hasRun: true,
    run: async ({ store, first }) => {
      await store.steps.finish('mail', [retried(await takeOne(store, 'mail'), 3_600_000)])
      await store.queues.moveJobs('mail', 'retries', [first], 'queue')
    },
  },
  'running it again when it is dead': {
    after: 'waits',
    hasRun: true,
    except: ['a waiting client'],
    run: async ({ store, first }) => {
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      await store.queues.moveJobs('mail', 'dead', [first], 'queue')
    },
  },
  'the undo of its deletion': {
    after: 'waits',
    newId: 3,
    hasRun: true,
    forgetsLock: true,
    except: ['a waiting client'],
    run: deletedAndBack,
  },
  'its promotion': {
    after: 'waits',
    job: (nowMs) => ({ dueAtMs: nowMs + 1_000 }),
    run: (scene) => promoted(scene, 2_000),
  },
  'its end by age': {
    after: 'over',
    countsAsDone: true,
    job: (nowMs) => ({ staleAtMs: nowMs + 1_000 }),
    run: async ({ world, store }) => {
      await world.pass(2_000)
      await store.queues.endStale(['mail'], 9)
    },
  },
  'the death of its node': {
    after: 'waits',
    run: async ({ world, store }) => {
      const other = await world.node()
      await takeOne(other, 'mail')
      await reclaimNode(store, other.node, ['mail'])
    },
  },
  'a reload of the limits': {
    after: 'waits',
    run: async (scene) => {
      const { store, throttles } = scene
      store.configure(
        new Map([...throttles].map(([name, limit]) => [name, { ...limit, concurrency: 3 }])),
      )
      await promoted(scene, 2_000)
      store.configure(throttles)
    },
  },
  'the end of its limits': {
    after: 'waits',
    endsTurns: true,
    run: async (scene) => {
      scene.store.configure(new Map())
      await promoted(scene, 2_000)
    },
  },
}

/** The two jobs of a scene. */
export async function scene(
  world: RedisWorld,
  act: Act,
  job: Partial<NewJob>,
  throttles: ReadonlyMap<string, Throttle>,
  prepare?: (scene: Pick<Scene, 'store'>) => Promise<unknown>,
): Promise<Scene> {
  const store = await world.node()
  await prepare?.({ store })
  const { nowMs } = await store.nodes.beat()
  const plain = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false } as const
  const mine = {
    ...plain,
    ...job,
    ...(job.staleAtMs !== undefined && { staleAtMs: nowMs + 3_600_000 }),
    ...act.job?.(nowMs),
  }
  const next = { ...plain, ...(job.turn !== undefined && { turn: job.turn }) }
  const [first = 0] = await submitAll(store, 'mail', [mine])
  const [second = 0] = await submitAll(store, 'mail', [next])
  return { world, store, throttles, first, second, job: mine }
}
