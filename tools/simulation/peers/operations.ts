import type { ApiInput, Handlers } from '@crossgear/gateway/src/web/api/api.ts'
import type { ActKind } from '../check/acts.ts'
import { areOne, isTaken } from '../check/acts.ts'
import type { Submitted } from '../check/history.ts'
import type { Gateway } from '../world/gateway.ts'
import { functions, possibleHomes, queues } from '../world/settings.ts'
import { FaktoryPort } from './faktory-port.ts'
import { GearmanPort } from './gearman-port.ts'
import { connect, type Peer } from './peer.ts'

type Result = 'done' | 'nothing' | 'unknown'
type JobActs = Pick<Handlers, 'cancelJobs' | 'deleteJobs' | 'moveJobs' | 'retryJobs'>

/** An act of an operator. Without a kind it changes no job. */
export interface Operation {
  readonly what: string
  readonly kind?: ActKind
  readonly takes: (job: Submitted) => boolean
  readonly toQueue?: string
  /** The one job that it names; its answer says if it had an effect. */
  readonly job?: Submitted
  readonly run: () => Promise<Result>
}

/** An operator waits so long for an answer, milliseconds. */
const patienceMs = 12_000
/** Most jobs that a limited function holds. */
const fewJobs = 3

const takesNone = (): boolean => false

/** The result of a call; unknown where it fails, or nothing comes of it in time. */
async function within(peer: Peer, call: Promise<Result>): Promise<Result> {
  const answer = call.catch((error: unknown): Result => {
    peer.history.say(`${peer.name} fails: ${String(error)}`)
    return 'unknown'
  })
  return Promise.race([answer, peer.clock.sleep(patienceMs).then((): Result => 'unknown')])
}

/** Calls something in the first open gateway. */
export function callWithin(
  peer: Peer,
  call: (gateway: Gateway) => Promise<unknown>,
): Promise<Result> {
  const gateway = peer.gateways.find(({ isOpen }) => isOpen)
  if (!gateway) return Promise.resolve('unknown')
  return within(
    peer,
    call(gateway).then((): Result => 'done'),
  )
}

/** Calls the API: it says how many jobs it has changed. */
async function callApi(peer: Peer, name: keyof JobActs, body: object): Promise<Result> {
  let done = 0
  const result = await callWithin(peer, async ({ api }) => {
    const call = api[name] as (input: ApiInput) => Promise<{ done: number }>
    ;({ done } = await call({ params: {}, query: {}, body }))
  })
  return result === 'done' && done === 0 ? 'nothing' : result
}

/** Sends a command of Faktory's on a connection of its own. */
async function askFaktory(peer: Peer, verb: string, argument: object | string): Promise<Result> {
  const port = await connect(peer, 'faktory', new FaktoryPort())
  const ask = async (): Promise<Result> => {
    if (!(await port.hello())) return 'unknown'
    return (await port.ask(verb, argument))?.line === '+OK' ? 'done' : 'unknown'
  }
  const result = await within(peer, ask())
  port.vanish()
  return result
}

/** Sends a text command to a Gearman port. */
async function askGearman(peer: Peer, line: string): Promise<Result> {
  const port = await connect(peer, 'gearman', new GearmanPort())
  const ask = async (): Promise<Result> => {
    const answer = await port.ask(line)
    if (answer === 'OK') return 'done'
    const isRefused = /UNKNOWN_JOB|function not found|still connected/.test(answer ?? '')
    return isRefused ? 'nothing' : 'unknown'
  }
  const result = await within(peer, ask())
  port.vanish()
  return result
}

/** Some job that may stand somewhere; the name by which the API knows it. */
function someJob({ history, random }: Peer, door?: Submitted['door']): Submitted | undefined {
  const completed = new Set(
    history.runs.filter(({ end }) => end === 'complete').map(({ label }) => label),
  )
  const jobs = [...history.jobs.values()].filter(
    ({ ref, label, ...job }) =>
      ref !== undefined && !completed.has(label) && (door === undefined || job.door === door),
  )
  return jobs.length === 0 ? undefined : random.pick(jobs)
}

const nameOf = ({ door, ref = '' }: Submitted): string => (door === 'gearman' ? `H:${ref}` : ref)

/** Queues in which a job may stand. */
function mayStandIn({ history }: Peer, job: Submitted, queue: string): boolean {
  const homes = possibleHomes(job.fn)
  // A job that was pushed to the home of its function goes with it.
  const own = job.queue === undefined || homes.includes(job.queue) ? homes : [job.queue]
  return own.includes(queue) || isTaken(history, job, ['moves'])
}

type Make = (peer: Peer) => Operation | undefined

/** An act on one job by its name. */
function onOne(
  what: string,
  kind: ActKind,
  run: (peer: Peer, job: Submitted, queue: string) => Promise<Result>,
  door?: Submitted['door'],
  isTold = true,
): Make {
  return (peer) => {
    const job = someJob(peer, door)
    const toQueue = peer.random.pick(queues)
    if (!job) return undefined
    return {
      what: `${what} ${job.label}${kind === 'moves' ? ` to ${toQueue}` : ''}`,
      kind,
      takes: (other) => areOne(job, other),
      ...(isTold && { job }),
      ...(kind === 'moves' && { toQueue }),
      run: () => run(peer, job, toQueue),
    }
  }
}

/** An act on all jobs of a function, or of all. */
function onSome(
  what: string,
  kind: ActKind,
  run: (peer: Peer, filter: { fn?: string; queue: string }) => Promise<Result>,
): Make {
  return (peer) => {
    const toQueue = peer.random.pick(queues)
    const fn = peer.random.percent(60) ? peer.random.pick(functions) : undefined
    return {
      what: `${what} of ${fn ?? 'all functions'}${kind === 'moves' ? ` to ${toQueue}` : ''}`,
      kind,
      takes: (job) => fn === undefined || job.fn === fn,
      ...(kind === 'moves' && { toQueue }),
      run: () => run(peer, { ...(fn !== undefined && { fn }), queue: toQueue }),
    }
  }
}

/** MUTATE of a set, by function. */
const mutate = (cmd: string, target: string, kind: ActKind): Make =>
  onSome(`sends MUTATE ${cmd} ${target}`, kind, (peer, { fn }) =>
    askFaktory(peer, 'MUTATE', { cmd, target, filter: fn === undefined ? {} : { jobtype: fn } }),
  )

/** The MUTATE that clears has no filter. */
const clear =
  (target: string): Make =>
  (peer) => {
    const run = () => askFaktory(peer, 'MUTATE', { cmd: 'clear', target })
    return { what: `sends MUTATE clear ${target}`, kind: 'ends', takes: () => true, run }
  }

/** A MUTATE of one job. */
const mutateOne = (cmd: string, target: string, kind: ActKind): Make =>
  onOne(
    `sends MUTATE ${cmd} ${target} for`,
    kind,
    (peer, { ref }) => askFaktory(peer, 'MUTATE', { cmd, target, filter: { jids: [ref] } }),
    'faktory',
    false,
  )

const filterOf = (fn: string | undefined, more: object = {}): object => ({
  filter: { ...(fn !== undefined && { function: fn }), ...more },
})

/** Pauses and limits, which change no job. */
const onWholes: readonly Make[] = [
  (peer) => {
    const queue = peer.random.pick(queues)
    const run = () => callWithin(peer, ({ scheduler }) => scheduler.queues.pause([queue]))
    return { what: `pauses queue ${queue}`, takes: takesNone, run }
  },
  (peer) => {
    const fn = peer.random.pick(functions)
    const run = () => callWithin(peer, ({ scheduler }) => scheduler.queues.pauseFunctions([fn]))
    return { what: `pauses function ${fn}`, takes: takesNone, run }
  },
  (peer) => {
    const fn = peer.random.pick(functions)
    const run = () => askGearman(peer, `maxqueue ${fn} ${fewJobs}`)
    return { what: `sends maxqueue ${fn} ${fewJobs}`, takes: takesNone, run }
  },
  (peer) => {
    const queue = peer.random.pick(queues)
    const run = () => askFaktory(peer, 'QUEUE REMOVE', queue)
    const takes = (job: Submitted) => mayStandIn(peer, job, queue)
    return { what: `removes queue ${queue}`, kind: 'ends', takes, run }
  },
  (peer) => {
    const fn = peer.random.pick(functions)
    const run = () => askGearman(peer, `drop function ${fn}`)
    const takes = (job: Submitted) => job.fn === fn
    return { what: `drops function ${fn}`, kind: 'ends', takes, run }
  },
  (peer) => {
    const run = () => {
      peer.history.hasFlushed = true
      return askFaktory(peer, 'FLUSH', '')
    }
    return { what: 'sends FLUSH', kind: 'ends', takes: () => true, run }
  },
]

/** All that an operator does. */
export const operations: readonly Make[] = [
  ...onWholes,
  onOne('cancels', 'ends', (peer, job) => callApi(peer, 'cancelJobs', { jobs: [nameOf(job)] })),
  onOne('deletes', 'ends', (peer, job) => callApi(peer, 'deleteJobs', { jobs: [nameOf(job)] })),
  onOne('retries', 'queues', (peer, job) => callApi(peer, 'retryJobs', { jobs: [nameOf(job)] })),
  onOne('moves', 'moves', (peer, job, to_queue) =>
    callApi(peer, 'moveJobs', { jobs: [nameOf(job)], to_queue }),
  ),
  onOne(
    'sends cancel job for',
    'ends',
    (peer, job) => askGearman(peer, `cancel job ${nameOf(job)}`),
    'gearman',
  ),
  onSome('cancels jobs', 'ends', (peer, { fn }) => callApi(peer, 'cancelJobs', filterOf(fn))),
  onSome('deletes waiting jobs', 'ends', (peer, { fn }) =>
    callApi(peer, 'deleteJobs', filterOf(fn, { state: 'waiting' })),
  ),
  onSome('moves jobs', 'moves', (peer, { fn, queue }) =>
    callApi(peer, 'moveJobs', { ...filterOf(fn), to_queue: queue }),
  ),
  mutate('kill', 'retries', 'kills'),
  mutate('kill', 'scheduled', 'kills'),
  mutate('requeue', 'retries', 'queues'),
  mutate('requeue', 'dead', 'queues'),
  mutate('requeue', 'scheduled', 'queues'),
  clear('scheduled'),
  clear('retries'),
  mutate('discard', 'retries', 'ends'),
  mutateOne('discard', 'scheduled', 'ends'),
  mutateOne('kill', 'retries', 'kills'),
  mutateOne('requeue', 'dead', 'queues'),
]
