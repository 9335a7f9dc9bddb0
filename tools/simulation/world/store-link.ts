import {
  noStep,
  notConnected,
  StoreError,
  type DroppedJob,
  type Step,
  type StepAnswer,
  type Store,
  type StoreListener,
} from '@crossgear/core-scheduler'
import type { Random } from '@crossgear/tools/random'
import { Stream } from './stream.ts'
import type { Actor, Timeline } from './timeline.ts'

/** Longest way of a call or its answer without a fault, milliseconds. */
const maxDelayMs = 2
/** A call without an answer fails after so long, milliseconds: as on a real store. */
const answerWithinMs = 5_000

/** Longest that a node takes to read an answer with jobs, milliseconds: later answers may be read before. */
const maxReadMs = 1

/** Until jobs of an unanswered claim are put back, milliseconds. */
const takeBackMs = 1_000

/** Faults of calls, now. Shares are in percent of calls. */
export interface LinkFaults {
  /** The connections break at the call. */
  breaks: number
  /** The call or the answer is late. */
  late: number
  /** Messages of the store that are lost. */
  lostMessages: number
}

export const noFaults: LinkFaults = { breaks: 0, late: 0, lostMessages: 0 }

type Method = (...args: unknown[]) => unknown

interface Call {
  readonly reject: (error: StoreError) => void
  readonly stopWaiting: () => void
  /** The store has answered, and the answer is lost. */
  lose?: () => void
}

interface CallOptions<Answer> {
  /** Time from the answer's arrival until it is read, milliseconds. */
  readonly readMs?: number
  /** Runs before the answer is taken. */
  readonly tell?: () => void
  /** Runs if the answer is not taken. */
  readonly unheard?: (answer: Answer) => void
}

/** Parts of the store port, whose methods are calls over the network. */
const parts = [
  'jobs',
  'lanes',
  'nodes',
  'admin',
  'queues',
  'batches',
  'cron',
  'holders',
  'inspect',
  'native',
  'history',
  'audit',
] as const satisfies readonly (keyof Store)[]

/** The network between a node and the store: each call, answer and message is an event of the world, or gets lost. */
export class StoreLink {
  /** The store as the node has it. */
  readonly store: Store
  faults: LinkFaults = noFaults
  /** Called when the store has done something. */
  readonly #executed: (name: string) => void
  readonly #node: Actor
  readonly #timeline: Timeline
  readonly #random: Random
  readonly #up: Stream
  readonly #down: Stream
  readonly #messages: Stream
  readonly #calls = new Set<Call>()
  #listener: StoreListener | undefined
  #isDown = false
  #isServerGone = false

  constructor(
    world: { readonly timeline: Timeline; readonly random: Random; readonly server: Actor },
    node: Actor,
    store: Store,
    executed: (name: string) => void,
  ) {
    const { timeline, random, server } = world
    this.#timeline = timeline
    this.#random = random
    this.#executed = executed
    this.#node = node
    this.#up = new Stream(timeline, random, server, maxDelayMs)
    this.#down = new Stream(timeline, random, node, maxDelayMs)
    this.#messages = new Stream(timeline, random, node, maxDelayMs)
    this.store = this.#wrapped(store)
  }

  /** The connections break: calls under way fail, done or not. */
  cut(): void {
    if (this.#isDown) return
    this.#isDown = true
    if (this.#random.percent(50)) this.#up.cut()
    this.#messages.cut()
    this.#down.cut()
    for (const { reject } of Array.from(this.#calls)) this.#down.send(() => reject(lost()))
    this.#down.send(() => this.#listener?.down('connection closed'))
  }

  /** The server's process ends, and with it all connections. */
  serverLeaves(): void {
    this.#isServerGone = true
    this.#up.cut()
    this.cut()
  }

  /** Another process has the server's place. */
  serverReturns(): void {
    this.#isServerGone = false
    this.mend()
  }

  /** Connections are made again; messages of the meantime are lost. */
  mend(): void {
    if (!this.#isDown || this.#isServerGone) return
    this.#isDown = false
    this.#down.send(() => this.#listener?.up())
  }

  #wrapped(store: Store): Store {
    const all = Object.fromEntries(parts.map((part) => [part, this.#part(part, store[part])]))
    const { events } = store
    return {
      ...(all as unknown as Pick<Store, (typeof parts)[number]>),
      steps: {
        step: (step) => {
          const { late, tell } = withLateCallbacks(step)
          return this.#call('step', () => store.steps.step(late), {
            readMs: step.claims.length > 0 ? this.#random.next() * maxReadMs : 0,
            tell,
            unheard: (answer) => this.#takeBack(store, answer),
          })
        },
      },
      node: store.node,
      isSharded: store.isSharded,
      events: {
        watch: (what) => {
          const watched = typeof what === 'string' ? what : new Set(what)
          return this.#call('watch', () => events.watch(watched))
        },
        listen: (listener) => {
          this.#listener = listener
          events.listen(this.#remote(listener))
        },
        send: (...message) => this.#call('send', () => events.send(...message)),
        delivered: () => new Promise<void>((resolve) => this.#messages.send(() => resolve())),
      },
      ...(store.confirm && {
        confirm: () => this.#call('confirm', () => store.confirm?.()),
      }),
      check: () => this.#call('check', () => store.check()),
      close: () => store.close(),
    }
  }

  #part(part: string, methods: object): object {
    const calls = new Map<PropertyKey, Method>()
    return new Proxy(methods, {
      get: (target, name) => {
        const known = calls.get(name)
        if (known) return known
        const method = (target as Record<PropertyKey, unknown>)[name]
        if (typeof method !== 'function') return method
        const call: Method = (...args) => {
          const run = (): unknown => (method as Method).apply(target, args)
          return this.#call(`${part}.${String(name)}`, run)
        }
        calls.set(name, call)
        return call
      },
    })
  }

  /** Jobs that were leased by a claim without an answer go back: a store sees to that while its node lives. */
  #takeBack(store: Store, { claims }: Pick<StepAnswer, 'claims'>): void {
    const leases = claims.flatMap((some) => (some instanceof StoreError ? [] : some))
    if (leases.length === 0) return
    const outcomes = leases.map(({ lane, id, token }) => {
      return { lane, outcomes: [{ lane, id, token, kind: 'requeueFront' as const }] }
    })
    this.#timeline.after(takeBackMs, this.#node, () => {
      if (this.#isDown) this.#takeBack(store, { claims })
      else this.#up.send(() => void store.steps.step({ ...noStep, outcomes }))
    })
  }

  #call<Answer>(
    name: string,
    run: () => Answer,
    { readMs = 0, tell, unheard }: CallOptions<Awaited<Answer>> = {},
  ): Promise<Awaited<Answer>> {
    if (this.#isDown) return Promise.reject(new StoreError('UNREACHABLE', notConnected))
    const random = this.#random
    const { breaks, late } = this.faults
    const [callLateMs, answerLateMs] = [this.#lateness(late), this.#lateness(late)]
    return new Promise<Awaited<Answer>>((resolve, reject) => {
      const stopWaiting = this.#timeline.after(answerWithinMs, this.#node, () => {
        call.reject(new StoreError('TIMEOUT', 'Command timed out'))
        this.#breakFor(random.whole(20, 300))
      })
      const call: Call = {
        reject: (error) => {
          if (!this.#ends(call)) return
          call.lose?.()
          reject(error)
        },
        stopWaiting,
      }
      this.#calls.add(call)
      const answered = (settle: () => void): void => {
        const read = (): void => {
          if (this.#ends(call)) settle()
        }
        const arrive = readMs > 0 ? () => this.#timeline.after(readMs, this.#node, read) : read
        this.#down.send(arrive, answerLateMs)
      }
      this.#up.send(() => {
        const done = run()
        this.#executed(name)
        Promise.resolve(done).then(
          (value) => {
            if (!this.#calls.has(call)) unheard?.(value)
            call.lose = () => unheard?.(value)
            answered(() => {
              tell?.()
              resolve(value)
            })
          },
          (error: unknown) =>
            answered(() => reject(error instanceof Error ? error : new Error(String(error)))),
        )
      }, callLateMs)
      if (random.percent(breaks)) this.#breakFor(random.whole(5, 300))
    })
  }

  #ends(call: Call): boolean {
    call.stopWaiting()
    return this.#calls.delete(call)
  }

  #breakFor(ms: number): void {
    if (this.#isDown) return
    this.cut()
    this.#timeline.after(ms, this.#node, () => this.mend())
  }

  #lateness(share: number): number {
    return this.#random.percent(share) ? this.#random.whole(1, 400) : 0
  }

  /** The listener at the other end of the network. */
  #remote(listener: StoreListener): StoreListener {
    return new Proxy(listener, {
      get: (target, name) => {
        const method = (target as unknown as Record<PropertyKey, Method>)[name]
        return (...args: unknown[]) => {
          if (this.#isDown || this.#random.percent(this.faults.lostMessages)) return
          this.#messages.send(() => method?.apply(target, args))
        }
      },
    })
  }
}

function lost(): StoreError {
  return new StoreError('UNREACHABLE', 'the connection was lost')
}

/** Claims whose callbacks the store calls before it answers: they take effect with the answer. */
function withLateCallbacks(step: Step): { late: Step; tell: () => void } {
  const told: (() => void)[] = []
  const claims = step.claims.map((claim) => {
    const { throttled, dropped, emptied } = claim
    return {
      ...claim,
      ...(throttled && {
        throttled: (queue: string, waitMs: number) =>
          void told.push(() => throttled(queue, waitMs)),
      }),
      ...(dropped && { dropped: (job: DroppedJob) => void told.push(() => dropped(job)) }),
      ...(emptied && { emptied: () => void told.push(emptied) }),
    }
  })
  return {
    late: { ...step, claims },
    tell: () => {
      for (const one of told) one()
    },
  }
}
