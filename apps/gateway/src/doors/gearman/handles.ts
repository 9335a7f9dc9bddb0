import { maxJobId, type JobRef, type LaneRegistry } from '@crossgear/core-scheduler'

const maxHandleBytes = 63
/** Longest prefix, bytes: leaves 8 digits for the lane, 16 for the id. Lanes with more digits get a shorter one. */
export const maxPrefixBytes = 38

/** Digits of an id at the end of a handle: those of the highest one. */
const idDigits = String(maxJobId).length
const number = /^([1-9]\d{0,14})(\d{16})$/
/** The two last parts of handles of former versions: lane number in base 36, and id. Its id has 16 digits at most. */
const formerTail = /^([1-9a-z][0-9a-z]{0,5}):(0|[1-9]\d{0,15})$/

/** A prefix as handles have it: at most {@link maxPrefixBytes} printable ASCII characters. */
export function handlePrefix(text: string): string {
  return text.replaceAll(/[^!-~]/g, '-').slice(0, maxPrefixBytes)
}

/**
 * Job names for Gearman clients: `<prefix>:<number>`, where the last 16 digits of the number are the job's id, and those
 * before it the lane's number. Any node resolves another's, whatever its prefix, and those of former versions.
 */
export class Handles {
  readonly #prefix: string
  readonly #registry: LaneRegistry

  constructor(prefix: string, registry: LaneRegistry) {
    this.#prefix = handlePrefix(prefix)
    this.#registry = registry
  }

  format(laneNumber: number, id: number): string {
    const job = `:${laneNumber}${String(id).padStart(idDigits, '0')}`
    const room = maxHandleBytes - job.length
    return (this.#prefix.length > room ? this.#prefix.slice(0, room) : this.#prefix) + job
  }

  /** The handle of a job; undefined if its lane has no number yet. */
  of(ref: JobRef): string | undefined {
    const laneNumber = this.#registry.numberOf(ref.lane)
    return laneNumber === undefined ? undefined : this.format(laneNumber, ref.id)
  }

  /** The job of a handle; undefined if no node can have given it out. */
  parse(handle: string): JobRef | undefined {
    const last = handle.lastIndexOf(':')
    if (last < 1 || handle.length > maxHandleBytes) return undefined
    const [, laneNumber, id] = number.exec(handle.slice(last + 1)) ?? []
    if (laneNumber !== undefined) return this.#registry.refOf(Number(laneNumber), Number(id))
    const laneAt = handle.lastIndexOf(':', last - 1)
    const [, formerNumber, formerId] = formerTail.exec(handle.slice(laneAt + 1)) ?? []
    if (laneAt < 1 || formerNumber === undefined) return undefined
    return this.#registry.refOf(Number.parseInt(formerNumber, 36), Number(formerId))
  }
}
