import { expect, test } from 'vitest'
import type {
  Band,
  ClaimBy,
  DroppedPiece,
  Job,
  JobRef,
  LaneGroup,
  Level,
  Loss,
  NewJob,
  Outcome,
  Lease,
} from '@crossgear/core-scheduler'
import type { SteppedStore } from './store-world.ts'
import { EventLog } from '../event-log.ts'
import type { StoreWorld, WorldOptions } from './store-world.ts'

/** Opens a world for one test; it is checked and closed when the test ends. */
export type OpenWorld = (options?: WorldOptions) => Promise<StoreWorld>

export const bytes = (text: string): Buffer => Buffer.from(text)

/** A test that gets an empty world, and a node of it, if it asks for them. */
export const testOf = (open: OpenWorld) =>
  test.extend('world', () => open()).extend('store', ({ world }) => world.node())

/** Tools for the tests of a part of the contract. */
export interface ContractTests {
  readonly test: ReturnType<typeof testOf>
  readonly open: OpenWorld
}

/** A background job from Gearman with some fields of its own. */
export function aJob(over: Partial<NewJob> = {}): NewJob {
  return { input: bytes('input'), door: 'gearman', level: 5, foreground: false, ...over }
}

/** Equal jobs, so many of them. */
export function copies(count: number, over: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, () => aJob(over))
}

/** One job per level, in that order; its input names level and place in line. */
export function jobsOf(...levels: Level[]): NewJob[] {
  return levels.map((level, at) => aJob({ level, input: bytes(`${level}-${at}`) }))
}

export async function submitAll(
  store: SteppedStore,
  lane: string,
  jobs: readonly NewJob[],
): Promise<number[]> {
  return (await store.steps.submit(lane, jobs)).map((result) => ('id' in result ? result.id : 0))
}

export async function submitOne(
  store: SteppedStore,
  lane: string,
  over?: Partial<NewJob>,
): Promise<number> {
  const [id = 0] = await submitAll(store, lane, [aJob(over)])
  return id
}

export function take(
  store: SteppedStore,
  lanes: readonly string[],
  max = 1,
  more: Partial<LaneGroup> & { readonly by?: ClaimBy } = {},
): Promise<readonly Lease[]> {
  const { by = 'named', ...group } = more
  return store.steps.claim({ by, groups: [{ lanes, ...group }], max })
}

/** A Faktory consumer's claim on the queue. */
export function fetch(
  store: SteppedStore,
  queue: string,
  lanes: readonly string[],
  max = 1,
): Promise<readonly Lease[]> {
  return take(store, lanes, max, { by: 'consumer', queue })
}

export async function takeOne(
  store: SteppedStore,
  lane: string,
  more: Parameters<typeof take>[3] = {},
): Promise<Lease> {
  const [job] = await take(store, [lane], 1, more)
  if (!job) throw new Error(`nothing to take in ${lane}`)
  return job
}

export const idsOf = (refs: readonly JobRef[]): number[] => refs.map(({ id }) => id)
export const namesOf = (refs: readonly JobRef[]): string[] =>
  refs.map(({ lane, id }) => `${lane}:${id}`)
export const inputsOf = (jobs: readonly Job[]): string[] =>
  jobs.map(({ input }) => input.toString())

type Held = JobRef & { readonly token: string }

export function completed({ lane, id, token }: Held, output = 'done'): Outcome {
  return { lane, id, token, kind: 'complete', output: bytes(output) }
}

export const allCompleted = (leases: readonly Held[]): Outcome[] =>
  leases.map((lease) => completed(lease))

export function failed({ lane, id, token }: Held, message = 'broken'): Outcome {
  return { lane, id, token, kind: 'fail', message: bytes(message) }
}

export function retried({ lane, id, token }: Held, delayMs: number): Outcome {
  const failure = '{"retry_count":0}'
  return { lane, id, token, kind: 'retry', message: bytes('again'), delayMs, failure }
}

export function killed({ lane, id, token }: Held): Outcome {
  return { lane, id, token, kind: 'dead', message: bytes('over'), failure: '{"retry_count":25}' }
}

export function requeued({ lane, id, token }: Held, lost = false, maxLosses = 0): Outcome {
  const held = { lane, id, token, kind: 'requeue' } as const
  return lost ? { ...held, lost, ...lossesOf(maxLosses) } : { ...held, lost }
}

export const lossesOf = (maxLosses: number): Loss => ({ maxLosses, failure: '{"lost":1}' })

/** Takes a node for dead, and reclaims it as a whole. Returns the lanes that got jobs. */
export async function reclaimNode(
  { nodes }: SteppedStore,
  node: string,
  lanes: readonly string[],
  loss = lossesOf(0),
): Promise<readonly string[]> {
  expect(await nodes.declareDead(node)).toBe(true)
  const { woken, refused } = await nodes.reclaim(node, lanes, loss)
  expect([...refused.values()]).toEqual([])
  await nodes.endReclaim(node, true)
  return woken
}

export function requeuedInFront({ lane, id, token }: Held): Outcome {
  return { lane, id, token, kind: 'requeueFront' }
}

export const native = (lane: string, id: number): Held => ({ lane, id, token: 'native' })

/** Ends jobs of a lane without workers, and drops it if that were all. */
export async function dropPiece(
  store: SteppedStore,
  lane: string,
  max: number,
): Promise<DroppedPiece> {
  const piece = await store.admin.dropLane(lane, max)
  if (piece === 'busy') throw new Error(`${lane} is busy`)
  return piece
}

export async function readOne(
  store: SteppedStore,
  lane: string,
  id: number,
): Promise<Job | undefined> {
  const [job] = await store.jobs.read(lane, [id])
  return job
}

/** Walks all indexes of a lane's unfinished jobs once. Returns the ids of unsettled ones. */
export async function sweepAll(store: SteppedStore, lane: string): Promise<number[]> {
  const found: number[] = []
  for (let from: string | undefined; ;) {
    const { ids, next } = await store.native.sweep(lane, from)
    found.push(...ids)
    if ((from = next) === undefined) break
  }
  for (let from: string | undefined; ;) {
    const { refs, next } = await store.native.sweepJids(from)
    found.push(...idsOf(refs))
    if ((from = next) === undefined) break
  }
  return found
}

/** The jobs of the lanes with this unique id. */
export async function findUnique(
  store: SteppedStore,
  unique: Uint8Array,
  lanes: readonly string[],
): Promise<readonly JobRef[]> {
  const [found = []] = await store.jobs.findUniques([unique], lanes)
  return found
}

/** A native client writes and pushes a job. Returns its id. */
export async function pushNative(
  { native: peer }: StoreWorld,
  lane: string,
  band: Band = 'normal',
  input = bytes('native'),
): Promise<number> {
  const id = await peer.write(lane, input)
  await peer.push(lane, id, band)
  return id
}

/** A job that must be there. */
export async function seen(store: SteppedStore, lane: string, id: number): Promise<Job> {
  const job = await readOne(store, lane, id)
  expect(job, `job ${id} of ${lane}`).toBeDefined()
  return job as Job
}

/** A new node and the events it gets, of those lanes or of all. */
export async function listening(
  world: StoreWorld,
  watched?: readonly string[] | 'all' | 'each',
): Promise<{ readonly store: SteppedStore; readonly log: EventLog }> {
  const store = await world.node()
  const log = new EventLog()
  store.events.listen(log.listener)
  if (watched) await store.events.watch(typeof watched === 'string' ? watched : new Set(watched))
  return { store, log }
}

/** Walks all jobs once for orphans of native programs. Returns the ids of unsettled ones. */
export async function lookAtAll(store: SteppedStore, remember = true): Promise<number[]> {
  const found: number[] = []
  for (let ended = false; !ended;) {
    const page = await store.native.survey(remember)
    found.push(...idsOf(page.unsettled))
    ended = page.lapEnded
  }
  return found
}
