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
  type StoreError,
  type Submission,
  type Submitted,
  type Waiter,
} from '@crossgear/core-scheduler'
import { TestWorker } from './test-worker.ts'
import { ManualClock, MemoryStoreWorld, RecordingObserver } from '../../src/index.ts'
import type { MemoryNode, WorldOptions } from '../../src/index.ts'

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
  readonly store: MemoryNode
  readonly clock: ManualClock

  constructor(
    world: MemoryStoreWorld,
    name: string,
    options: SchedulerOptions,
    wrap: (store: MemoryNode) => Store,
  ) {
    this.store = world.join(name)
    this.clock = world.clock
    this.scheduler = new Scheduler(wrap(this.store), world.clock, this.observer, {
      retryRules,
      ...options,
    })
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

/** A world and the nodes in it, all on one manual clock. */
export class Cluster {
  readonly clock = new ManualClock()
  readonly world: MemoryStoreWorld

  constructor(options: WorldOptions = {}) {
    this.world = new MemoryStoreWorld(this.clock, options)
  }

  async node(
    name: string,
    options: SchedulerOptions = {},
    wrap: (store: MemoryNode) => Store = (store) => store,
  ): Promise<TestNode> {
    const node = new TestNode(this.world, name, options, wrap)
    await node.scheduler.start()
    await this.turn()
    return node
  }

  turn(): Promise<void> {
    return this.clock.turn()
  }

  pass(ms: number): Promise<void> {
    return this.clock.advance(ms)
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
  store: MemoryNode,
  run: (step: Step, send: (step: Step) => Promise<StepAnswer>) => Promise<StepAnswer>,
): MemoryNode {
  const send = store.steps.step.bind(store.steps)
  store.steps.step = (step) => run(step, send)
  return store
}

/** The same, of which only notes are taken. */
export function notingSteps(steps: Step[]): (store: MemoryNode) => MemoryNode {
  return (store) =>
    aroundSteps(store, (step, send) => {
      steps.push(step)
      return send(step)
    })
}
