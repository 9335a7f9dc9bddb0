import type { Packet } from '@crossgear/gearman-codec'
import type { GearmanConnection } from '@crossgear/peers'
import { inTurn, openGearman, openSomewhere, type Way } from '../doors.ts'
import type { Work } from '../work.ts'
import type { PeerWorker } from '../worker.ts'

const echoEveryMs = 2_000

/** Several connections with one job at a time each, like libgearman's worker. */
export class GearmanWorker implements PeerWorker {
  readonly #ways: readonly Way[]
  readonly #lanes: readonly string[]
  readonly #concurrency: number
  readonly #work: Work
  readonly #asleep = new Set<GearmanConnection>()
  #loops: Promise<void>[] = []
  #stopped = false

  constructor(ways: readonly Way[], lanes: readonly string[], concurrency: number, work: Work) {
    this.#ways = ways
    this.#lanes = lanes
    this.#concurrency = concurrency
    this.#work = work
  }

  start(): void {
    this.#loops = Array.from({ length: this.#concurrency }, (_, at) => this.#loop(at))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const link of this.#asleep) link.close()
    await Promise.all(this.#loops)
  }

  async #loop(first: number): Promise<void> {
    for (let at = first; !this.#isStopped(); at += 1) {
      const found = await openSomewhere(this.#ways, at, openGearman, () => this.#isStopped())
      if (!found) return
      const { opened: link, way } = found
      await this.#serve(link, inTurn(this.#lanes, first), `gearman:${way.node}`).catch(
        () => undefined,
      )
      link.close()
      await link.over
    }
  }

  async #serve(link: GearmanConnection, lanes: readonly string[], via: string): Promise<void> {
    for (const lane of lanes) link.send('CAN_DO', lane)
    link.send('GRAB_JOB')
    while (!this.#isStopped()) {
      const message = await this.#nextMessage(link)
      if (message.name === 'JOB_ASSIGN') {
        await this.#do(link, message, via)
        if (this.#isStopped()) await this.#lastWord(link)
        else link.send('GRAB_JOB')
      } else if (message.name === 'NO_JOB') link.send('PRE_SLEEP')
      else if (message.name === 'NOOP') link.send('GRAB_JOB')
      else throw new Error(`a worker heard ${message.name}`)
    }
  }

  async #do(link: GearmanConnection, message: Packet, via: string): Promise<void> {
    const key = String(message.args[2])
    let isOver = false
    void link.over.then(() => {
      if (!isOver) this.#work.lost(key)
    })
    await this.#work.run(key, via)
    isOver = true
    link.send('WORK_COMPLETE', message.args[0] ?? '', key)
  }

  /** The echo shows that the result before it was read; errors come before it. */
  async #lastWord(link: GearmanConnection): Promise<void> {
    link.send('ECHO_REQ', 'bye')
    while ((await link.answer()).name !== 'ECHO_RES');
  }

  /**
   * The next message other than an echo. While the worker sleeps, echoes show that the server
   * lives.
   */
  async #nextMessage(link: GearmanConnection): Promise<Packet> {
    this.#asleep.add(link)
    const echoes = setInterval(() => link.send('ECHO_REQ', 'alive'), echoEveryMs)
    try {
      for (;;) {
        const message = await link.answer()
        if (message.name !== 'ECHO_RES') return message
      }
    } finally {
      clearInterval(echoes)
      this.#asleep.delete(link)
    }
  }

  #isStopped(): boolean {
    return this.#stopped
  }
}
