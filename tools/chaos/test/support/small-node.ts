import { Scheduler, type Assignment, type Clock, type Store } from '@crossgear/core-scheduler'
import { RecordingObserver } from '@crossgear/tools/recording-observer'
import { RedisStore } from '@crossgear/redis-store'

/** Replacements for methods of a store's parts. */
interface Replacements {
  readonly steps?: Partial<Store['steps']>
  readonly nodes?: Partial<Store['nodes']>
}

export type Parts = (sound: Store) => Replacements

/** An object of which some properties are replaced. */
function rebuilt<Whole extends object>(sound: Whole, parts: Partial<Whole>): Whole {
  return new Proxy(sound, {
    get(target, name) {
      const part: unknown = Reflect.get(name in parts ? parts : target, name)
      return typeof part === 'function' ? (part.bind(target) as unknown) : part
    },
  })
}

/** Time that ends with its node. */
class MortalClock implements Clock {
  isDead = false

  nowMs(): number {
    return performance.now()
  }

  after(ms: number, task: () => void): () => void {
    const timer = setTimeout(() => this.isDead || task(), ms)
    return () => clearTimeout(timer)
  }

  endOfTurn(task: () => void): void {
    setImmediate(task)
  }
}

/** Scheduler and store of a gateway without its doors; one function, `mail`. */
export class SmallNode {
  readonly #clock = new MortalClock()
  readonly #store: Store
  readonly #scheduler: Scheduler

  private constructor(store: Store) {
    this.#store = store
    this.#scheduler = new Scheduler(store, this.#clock, new RecordingObserver())
  }

  static async start(path: string, parts: Parts = () => ({})): Promise<SmallNode> {
    const sound = new RedisStore({ path })
    await sound.open()
    const { steps = {}, nodes = {} } = parts(sound)
    const broken = {
      steps: rebuilt<Store['steps']>(sound.steps, steps),
      nodes: rebuilt<Store['nodes']>(sound.nodes, nodes),
    }
    const node = new SmallNode(rebuilt<Store>(sound, broken))
    await node.#scheduler.start()
    return node
  }

  /** Settles when the client would be told that the server has the job. */
  submit(key: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#scheduler.submit('mail', {
        job: { door: 'gearman', level: 5, input: Buffer.from(key), foreground: false },
        gone: false,
        submitted: () => resolve(),
        refused: reject,
      })
    })
  }

  /** The next job, held for so long; absent: while the worker is connected. */
  take(leaseMs?: number): Promise<Assignment | undefined> {
    const ability = leaseMs === undefined ? { fn: 'mail' } : { fn: 'mail', leaseMs }
    return new Promise((resolve, reject) => {
      this.#scheduler.claim({
        subscription: this.#scheduler.namedSubscription([ability]),
        gone: false,
        assigned: resolve,
        onEmpty: () => resolve(undefined),
        refused: reject,
        failed: reject,
      })
    })
  }

  complete(assignment: Assignment): Promise<unknown> {
    return new Promise((settled, refused) => {
      this.#scheduler.complete(assignment, Buffer.alloc(0), { settled, refused })
    })
  }

  /** The connection that held the job is lost. */
  release(assignment: Assignment): Promise<unknown> {
    return new Promise((settled, refused) => {
      this.#scheduler.release(assignment, true, { settled, refused })
    })
  }

  /** Ends as a killed process does: says and does nothing more. */
  async die(): Promise<void> {
    this.#clock.isDead = true
    await this.#store.close()
  }

  async stop(): Promise<void> {
    await this.#scheduler.stop()
    await this.#store.close()
  }
}
