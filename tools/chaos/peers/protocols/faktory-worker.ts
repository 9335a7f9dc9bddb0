import { setTimeout as delay } from 'node:timers/promises'
import { type FaktoryConnection, FaktoryRefusal } from '@crossgear/peers'
import { inTurn, openFaktory, openSomewhere, type Way } from '../doors.ts'
import { keyOf } from './faktory-client.ts'
import type { Work } from '../work.ts'
import type { PeerWorker } from '../worker.ts'

const pauseMs = 200

/** Several connections with one job at a time each. A result is resent until it is answered. */
export class FaktoryWorker implements PeerWorker {
  readonly #ways: readonly Way[]
  readonly #queues: readonly string[]
  readonly #concurrency: number
  readonly #work: Work
  readonly #wid: string
  #loops: Promise<void>[] = []
  #stopped = false

  constructor(
    ways: readonly Way[],
    lanes: readonly string[],
    concurrency: number,
    work: Work,
    name: string,
  ) {
    this.#ways = ways
    this.#queues = [...new Set(lanes.map((lane) => lane.split('@')[1] ?? 'default'))]
    this.#concurrency = concurrency
    this.#work = work
    this.#wid = `${name}-${process.pid}`
  }

  start(): void {
    this.#loops = Array.from({ length: this.#concurrency }, (_, at) => this.#loop(at))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#loops)
  }

  async #loop(first: number): Promise<void> {
    let unsaid: string | undefined
    const queues = inTurn(this.#queues, first).join(' ')
    for (let at = first; !this.#stopped || unsaid !== undefined; at += 1) {
      const found = await openSomewhere(
        this.#ways,
        at,
        (way) => openFaktory(way, { wid: this.#wid }),
        () => this.#stopped && unsaid === undefined,
      )
      if (!found) return
      const link = found.opened
      try {
        if (unsaid !== undefined) await this.#ack(link, unsaid)
        unsaid = undefined
        await this.#serve(link, queues, `faktory:${found.way.node}`, (jid) => (unsaid = jid))
      } catch {
        await delay(pauseMs)
      }
      link.close()
    }
  }

  async #serve(
    link: FaktoryConnection,
    queues: string,
    via: string,
    unsaid: (jid: string | undefined) => void,
  ): Promise<void> {
    while (!this.#stopped) {
      const job = await link.ask('FETCH', queues)
      if (job === null) continue
      const { jid, args } = JSON.parse(job.toString()) as { jid: string; args: [string] }
      await this.#work.run(keyOf(jid, args[0]), via)
      unsaid(jid)
      await this.#ack(link, jid)
      unsaid(undefined)
    }
    await link.end()
  }

  /** A job is unknown if the first ACK arrived, or another worker has it. */
  async #ack(link: FaktoryConnection, jid: string): Promise<void> {
    await link.ask('ACK', { jid }).catch((error: unknown) => {
      if (!(error instanceof FaktoryRefusal) || /store/i.test(error.message)) throw error
    })
  }
}
