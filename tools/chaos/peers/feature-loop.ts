import { setTimeout as delay } from 'node:timers/promises'
import type { LogFile } from '../log/log-file.ts'
import { Random } from '@crossgear/tools/random'
import { type FaktoryConnection, FaktoryRefusal } from '@crossgear/peers'
import { openFaktory, openSomewhere } from './doors.ts'
import { jobOf } from './protocols/faktory-client.ts'
import { lockedLane, longMark, narrowConcurrency, narrowLane, type ClientTask } from './tasks.ts'

/** Ordinary jobs of the client for each act. */
const jobsPerAct = 25
const membersOfBatch = 3
/** Few locks, so that many are held. */
const lockCount = 3
const uniqueBurst = 4
const pauseMs = 200
/** Longer than any scenario. */
const uniqueForSeconds = 3_600
/** Jobs in a throttled queue at once: more than may run. */
const narrowBurst = 3 * narrowConcurrency

/** Beside the ordinary jobs: batches, unique jobs, and jobs in a throttled queue, one act after the other. */
export class FeatureLoop {
  readonly #task: ClientTask
  readonly #log: LogFile
  readonly #random: Random
  readonly #number: number
  readonly #acts: readonly ((link: FaktoryConnection) => Promise<unknown>)[]
  #sequence = 0

  /** @param number different for each loop of a client */
  constructor(task: ClientTask, log: LogFile, number: number) {
    this.#task = task
    this.#log = log
    this.#number = number
    this.#random = new Random(task.seed + 1 + number)
    this.#acts = [
      (link) => this.#pushBatches(link),
      (link) => Promise.all(Array.from({ length: uniqueBurst }, () => this.#pushUnique(link))),
      (link) => Promise.all(Array.from({ length: narrowBurst }, () => this.#pushNarrow(link))),
    ]
  }

  /** Settles after the last act. A batch whose connection is lost or that is refused is given up. */
  async run(isOver: () => boolean): Promise<void> {
    const { ways, ratePerSecond } = this.#task
    for (let at = this.#number; !isOver(); at += 1) {
      const found = await openSomewhere(ways, at, openFaktory, isOver)
      if (!found) return
      try {
        while (!isOver()) {
          await this.#random.pick(this.#acts)(found.opened)
          await delay((jobsPerAct / ratePerSecond) * 1000)
        }
      } catch {
        await delay(pauseMs)
      }
      found.opened.close()
    }
  }

  /** A batch with a child. Both have both callbacks. */
  async #pushBatches(link: FaktoryConnection): Promise<void> {
    const parent = this.#nextName('-batch')
    const child = `${parent}-child`
    const parentBid = await this.#openBatch(link, parent, {}, [`${child}-success`])
    const childBid = await this.#openBatch(link, child, { parent_bid: parentBid })
    await this.#commit(link, child, childBid)
    await this.#commit(link, parent, parentBid)
  }

  /** @returns the bid of a batch that has its jobs */
  async #openBatch(
    link: FaktoryConnection,
    name: string,
    more: object,
    childEnds: readonly string[] = [],
  ): Promise<string> {
    const members = Array.from({ length: membersOfBatch }, (_, at) => `${name}-${at}`)
    const [complete, success] = callbacksOf(name)
    this.#log.note('attempt', complete, `after:${[...members, ...childEnds].join()}`)
    this.#log.note('attempt', success, `after:${complete}`)
    this.#log.flush()
    const callback = (key: string): object => {
      const [jobtype, queue = 'default'] = this.#random.pick(this.#task.lanes).split('@')
      return { jobtype, queue, args: [key] }
    }
    const fields = { ...more, complete: callback(complete), success: callback(success) }
    const bid = String(await link.ask('BATCH NEW', fields))
    for (const key of members) {
      const lane = this.#random.pick(this.#task.lanes)
      const answer = await this.#push(link, key, lane, { custom: { bid } })
      if (answer === 'refused') throw new Error('a batch without one of its jobs')
    }
    return bid
  }

  async #commit(link: FaktoryConnection, name: string, bid: string): Promise<void> {
    await link.ask('BATCH COMMIT', bid)
    for (const key of callbacksOf(name)) this.#log.note('ack', key)
  }

  #pushUnique(link: FaktoryConnection): Promise<unknown> {
    const lock = `lock-${this.#random.whole(1, lockCount)}`
    const options = { args: [lock], custom: { unique_for: uniqueForSeconds } }
    return this.#push(
      link,
      this.#nextName(`${longMark}unique`),
      lockedLane,
      options,
      `lock:${lock}`,
    )
  }

  #pushNarrow(link: FaktoryConnection): Promise<unknown> {
    const limit = `limit:${narrowConcurrency}`
    return this.#push(link, this.#nextName(`${longMark}narrow`), narrowLane, {}, limit)
  }

  async #push(
    link: FaktoryConnection,
    key: string,
    lane: string,
    options: { readonly args?: readonly string[]; readonly custom?: object },
    term?: string,
  ): Promise<'ack' | 'refused'> {
    this.#log.note('attempt', key, term)
    this.#log.flush()
    const common = { key, lane, priority: 'normal', foreground: false, delaySeconds: 0 } as const
    const word = await link.ask('PUSH', jobOf({ ...common, ...options })).then(
      () => 'ack' as const,
      (error: unknown) => {
        if (error instanceof FaktoryRefusal) return 'refused' as const
        throw error
      },
    )
    this.#log.note(word, key)
    return word
  }

  #nextName(what: string): string {
    this.#sequence += 1
    return `${this.#task.name}${what}${this.#number}-${this.#sequence}`
  }
}

function callbacksOf(name: string): readonly [complete: string, success: string] {
  return [`${name}-complete`, `${name}-success`]
}
