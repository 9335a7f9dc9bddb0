import {
  Scheduler,
  type JobEvent,
  type JobRef,
  type NewJob,
  type RetryRules,
  type SchedulerOptions,
  type Step,
  type StepAnswer,
  type Store,
  StoreError,
  type StoreErrorCode,
  type StoreListener,
  type Submission,
  type Submitted,
  type Waiter,
} from '@crossgear/core-scheduler'
import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { RecordingObserver } from '@crossgear/tools/recording-observer'
import type { WorldOptions } from '../contract/store-world.ts'
import { StoreKeys, type RedisStore } from '../../src/index.ts'
import { ServerInProcess } from '../support/in-process.ts'
import { RedisWorld } from '../support/redis-world.ts'
import { NodeLink } from './node-link.ts'
import { TestWorker } from './test-worker.ts'

export const bytes = (text: string): Buffer => Buffer.from(text)

/** As Faktory's with the shortest delay; a Faktory job has 25 retries. */
const retryRules: RetryRules = {
  ofFailure(job, report) {
    const retries = job.retries ?? (job.door === 'faktory' ? 25 : 0)
    const { retry_count: last } = JSON.parse(job.failure ?? '{}') as { retry_count?: number }
    const count = last === undefined ? 0 : last + 1
    const record = JSON.stringify({ ...report, retry_count: count, remaining: retries - count })
    if (retries === 0) return { kind: 'fail', record }
    return count < retries ? { kind: 'retry', record, delayMs: 15_000 } : { kind: 'dead', record }
  },
  lateReport: { errtype: 'ReservationExpired', message: 'reservation expired' },
  ofLosses: () => '{"errtype":"WorkersLost"}',
}

/** One gateway process without doors. */
export class TestNode {
  readonly scheduler: Scheduler
  readonly observer = new RecordingObserver()
  readonly store: RedisStore
  readonly clock: ManualClock
  readonly #link: NodeLink

  constructor(
    link: NodeLink,
    clock: ManualClock,
    options: SchedulerOptions,
    wrap: (store: RedisStore) => Store,
  ) {
    this.#link = link
    this.store = link.store
    this.clock = clock
    this.scheduler = new Scheduler(wrap(this.store), clock, this.observer, {
      retryRules,
      ...options,
    })
  }

  /** The scheduler's own ears: what is said here is heard even by a deaf node. */
  get listener(): StoreListener {
    return this.#link.listener
  }

  /** From now on it gets no messages of the store, or gets them again. */
  set isDeaf(isDeaf: boolean) {
    this.#link.isDeaf = isDeaf
  }

  /** The process of the node ends abruptly. */
  crash(): Promise<void> {
    return this.#link.crash()
  }

  worker(...functions: string[]): TestWorker {
    const interest = this.scheduler.namedSubscription(functions.map((fn) => ({ fn })))
    return new TestWorker(this, interest)
  }

  leasedWorker(fn: string, leaseMs: number): TestWorker {
    return new TestWorker(this, this.scheduler.namedSubscription([{ fn, leaseMs }]))
  }

  consumer(...queues: string[]): TestWorker {
    return new TestWorker(this, this.scheduler.consumerSubscription(queues))
  }

  /** Hands in a background job. */
  submit(lane: string, over: Partial<NewJob> = {}): TestClient {
    const client = new TestClient(over)
    this.scheduler.submit(lane, client)
    return client
  }

  /** The same, and the turn ends: the store has the job. */
  async submitted(lane: string, over?: Partial<NewJob>): Promise<TestClient> {
    const client = this.submit(lane, over)
    await this.clock.turn()
    return client
  }

  /** Hands in a foreground job. */
  ask(lane: string, over: Partial<NewJob> = {}): TestClient {
    const client = new TestClient({ foreground: true, ...over })
    client.waiter = client
    this.scheduler.submit(lane, client)
    return client
  }

  /** The same, and the turn ends: the store has the job. */
  async asked(lane: string, over?: Partial<NewJob>): Promise<TestClient> {
    const client = this.ask(lane, over)
    await this.clock.turn()
    return client
  }
}

/** A client with one job. */
export class TestClient implements Submission, Waiter {
  readonly job: NewJob
  waiter?: Waiter
  gone = false
  result: Submitted | undefined
  laneNumber: number | undefined
  refusal: StoreError | undefined
  /** Events received, each as a line. */
  readonly events: string[] = []

  constructor(over: Partial<NewJob>) {
    this.job = { input: bytes('input'), door: 'gearman', level: 5, foreground: false, ...over }
  }

  submitted(result: Submitted, laneNumber: number): void {
    this.result = result
    this.laneNumber = laneNumber
  }

  refused(error: StoreError): void {
    this.refusal = error
  }

  onEvent(ref: JobRef, event: JobEvent): void {
    this.events.push(`${ref.lane}:${ref.id} ${wordsOf(event)}`)
  }
}

function wordsOf(event: JobEvent): string {
  switch (event.kind) {
    case 'complete':
      return `complete ${Buffer.from(event.output).toString()}`
    case 'exception':
      return `exception ${Buffer.from(event.message).toString()}`
    case 'fail':
      return 'fail'
    case 'status':
      return `status ${Buffer.from(event.dividend).toString()}/${Buffer.from(event.divisor).toString()}`
    case 'data':
    case 'warning':
      return `${event.kind} ${Buffer.from(event.data).toString()}`
  }
}

export const keys = new StoreKeys()
const server = await ServerInProcess.start()
let former: RedisWorld | undefined

/** A store and the nodes on it, all on one manual clock. */
export class Cluster {
  readonly clock = new ManualClock()
  readonly #options: WorldOptions
  readonly #links: NodeLink[] = []
  #opened: RedisWorld | undefined

  constructor(options: WorldOptions = {}) {
    this.#options = options
  }

  /** There is one from the first node on, or after {@link open}. */
  get world(): RedisWorld {
    if (!this.#opened) throw new Error('no node has opened it')
    return this.#opened
  }

  async open(): Promise<RedisWorld> {
    if (this.#opened) return this.#opened
    await former?.close()
    server.follow(this.clock)
    former = await RedisWorld.open(server.address, this.#options, server)
    this.#opened = former
    return former
  }

  async node(
    name: string,
    options: SchedulerOptions = {},
    wrap: (store: RedisStore) => Store = (store) => store,
  ): Promise<TestNode> {
    const world = await this.open()
    const link = new NodeLink(await world.node({ nodeName: name }))
    this.#links.push(link)
    const node = new TestNode(link, this.clock, options, wrap)
    await node.scheduler.start()
    await this.turn()
    return node
  }

  /** From now on the store fails with this code. */
  break(code: StoreErrorCode = 'UNREACHABLE'): void {
    for (const link of this.#links) link.break(code)
  }

  /** The store works again. Its messages of the meantime are lost. */
  mend(): void {
    for (const link of this.#links) link.mend()
  }

  /** The numbers of all registered lanes. */
  async numbers(): Promise<ReadonlyMap<string, number>> {
    const numbers = await this.world.server.hgetall(keys.lanes)
    return new Map(Object.entries(numbers).map(([lane, number]) => [lane, Number(number)]))
  }

  /** Steps the server's date, ahead or back. */
  stepDate(ms: number): void {
    server.stepDate(ms)
  }

  turn(): Promise<void> {
    return this.clock.turn()
  }

  pass(ms: number): Promise<void> {
    return server.pass(ms)
  }
}

/** Another node takes one for dead, and reclaims it in the lane `mail`. */
export async function takeForDead({ store }: TestNode, node: string): Promise<void> {
  await store.nodes.declareDead(node)
  await store.nodes.reclaim(node, ['mail'], { maxLosses: 0, failure: '{}' })
  await store.nodes.endReclaim(node, true)
}

/** The store of a node with something done around each of its steps. */
export function aroundSteps(
  store: RedisStore,
  run: (step: Step, send: (step: Step) => Promise<StepAnswer>) => Promise<StepAnswer>,
): RedisStore {
  const send = store.steps.step.bind(store.steps)
  store.steps.step = (step) => run(step, send)
  return store
}

/** The same, of which only notes are taken. */
export function notingSteps(steps: Step[]): (store: RedisStore) => RedisStore {
  return (store) =>
    aroundSteps(store, (step, send) => {
      steps.push(step)
      return send(step)
    })
}
