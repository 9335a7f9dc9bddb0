import type { JobRef, LaneRegistry } from '@crossgear/core-scheduler'

/** Longest prefix, bytes: leaves 6 digits for the lane, 17 for the id, and a handle of 63 bytes. */
export const maxPrefixBytes = 38

const tail = /^([0-9a-z]{1,6}):(\d{1,16})$/

/**
 * Job names for Gearman clients: `<prefix>:<lane number, base 36>:<id>`. Any node resolves
 * another's, whatever its prefix.
 */
export class Handles {
  readonly #prefix: string
  readonly #registry: LaneRegistry

  /** `prefix` is cut to {@link maxPrefixBytes} printable ASCII characters. */
  constructor(prefix: string, registry: LaneRegistry) {
    this.#prefix = prefix.replaceAll(/[^!-~]/g, '-').slice(0, maxPrefixBytes)
    this.#registry = registry
  }

  format(laneNumber: number, id: number): string {
    return `${this.#prefix}:${laneNumber.toString(36)}:${id}`
  }

  /** The handle of a job; undefined if its lane has no number yet. */
  of(ref: JobRef): string | undefined {
    const number = this.#registry.numberOf(ref.lane)
    return number === undefined ? undefined : this.format(number, ref.id)
  }

  /** The job of a handle; undefined if no node can have given it out. */
  parse(handle: string): JobRef | undefined {
    const idAt = handle.lastIndexOf(':')
    const laneAt = handle.lastIndexOf(':', idAt - 1)
    if (idAt < 1 || laneAt < 0) return undefined
    const [, number = '', id = ''] = tail.exec(handle.slice(laneAt + 1)) ?? []
    const lane = this.#registry.laneOf(Number.parseInt(number, 36))
    return lane === undefined ? undefined : { lane, id: Number(id) }
  }
}
