import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { Valkey } from '../../src/embedded/valkey.ts'
import type { StoreAddress } from '../../src/index.ts'
import type { WorldTime } from './redis-world.ts'

/** The date when the first test begins, milliseconds since 1970. */
const firstMs = 1_700_000_000_000

/** Compiled once for all servers of this process. */
const program = await Valkey.compile()

/** Valkey inside this process. Its time is that of one test after the other. */
export class ServerInProcess implements WorldTime {
  #clock = new ManualClock()
  #epochMs = firstMs
  #steppedMs = 0
  /** Time of former tests, milliseconds: what the server measures never goes back. */
  #formerMs = 0
  #valkey: Valkey | undefined
  #lastMs = 0
  readonly #lookMs: number | undefined

  private constructor(lookMs?: number) {
    this.#lookMs = lookMs
  }

  /** `lookMs`: how long each look at the date takes; where none is given, all of them together less than a millisecond. */
  static async start(lookMs?: number): Promise<ServerInProcess> {
    const server = new ServerInProcess(lookMs)
    server.#valkey = await Valkey.start({
      program,
      nowMs: () => server.#date(),
      monotonicMs: () => server.#formerMs + server.#clock.nowMs(),
    })
    return server
  }

  get address(): StoreAddress {
    return { connect: this.#valkey!.connect }
  }

  /** The server's date. */
  nowMs(): number {
    return this.machine.nowMs() + this.#steppedMs
  }

  /** Each look at a clock that stands still takes some time, so that what is later has a later date. */
  #date(): number {
    if (this.#lookMs !== undefined) this.#epochMs += this.#lookMs
    const nowMs = this.nowMs()
    if (this.#lookMs !== undefined) return nowMs
    const leftMs = nowMs + 0.999 - this.#lastMs
    const isStill = leftMs >= 0 && leftMs < 1
    this.#lastMs = isStill ? this.#lastMs + leftMs / 6 : nowMs
    return this.#lastMs
  }

  /** The clock of the machines of its nodes. */
  readonly machine = { nowMs: (): number => this.#epochMs + this.#clock.nowMs() }

  /** From now on its time is that of this clock. */
  follow(clock: ManualClock): void {
    this.#formerMs += this.#clock.nowMs() - clock.nowMs()
    this.#clock = clock
    this.#steppedMs = 0
  }

  /** Steps its date, ahead or back. The nodes' clocks do not follow. */
  stepDate(ms: number): void {
    this.#steppedMs += ms
  }

  nextMs(): void {
    this.#epochMs += 1
  }

  /** Ends the server, and with it all connections. */
  stop(): void {
    this.#valkey?.stop()
  }

  /** Time passes for it and its nodes. */
  async pass(ms: number): Promise<void> {
    await this.#clock.advance(ms)
    this.#valkey?.step()
  }
}
