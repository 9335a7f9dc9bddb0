import { RoundRobin } from '../../src/doors/net/round-robin.ts'

/** A round robin whose turns the test takes. */
export class TurnsByHand {
  readonly #due: (() => void)[] = []
  readonly turns = new RoundRobin({ clock: { endOfTurn: (task) => void this.#due.push(task) } })

  /** True if somebody waits for a turn. */
  get areAwaited(): boolean {
    return this.#due.length > 0
  }

  take(): void {
    for (const task of this.#due.splice(0)) task()
  }

  /** Takes turns until nobody waits, each in a turn of the event loop; returns how many. */
  async takeAll(): Promise<number> {
    let taken = 0
    for (; this.areAwaited; taken += 1) {
      this.take()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return taken
  }
}
