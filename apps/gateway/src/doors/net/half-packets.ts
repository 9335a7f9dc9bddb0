import type { Clock } from '@crossgear/core-scheduler'

/** A connection with a half-arrived packet. */
export interface Reader {
  /** The half-arrived packet is read on, or waits. */
  setMayRead(mayRead: boolean): void
}

const mib = 1024 * 1024

/** Bytes of half-arrived packets of an address up to which all of them are read on. */
export const sharedBytes = 8 * mib
/** A packet of which no more than this has come is read on in any case, bytes. */
export const shortBytes = mib
/** Time for which a packet is read on before the next one has its turn, milliseconds. */
export const turnMs = 5_000

/**
 * The half-arrived packets of an address. Beyond a bound the long ones are read one after the other, so that a few
 * connections that end none of theirs fill no more memory than one of them.
 */
export class HalfPackets {
  readonly #clock: Pick<Clock, 'after'>
  readonly #bytes = new Map<Reader, number>()
  /** In the order of their turns. */
  readonly #long = new Set<Reader>()
  #total = 0
  /** The long packet that is read on; undefined while all are. */
  #turnOf: Reader | undefined
  #endTurn = (): void => undefined

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  get isEmpty(): boolean {
    return this.#bytes.size === 0
  }

  /** Sets the bytes of a half-arrived packet; 0 once it is complete. */
  keep(reader: Reader, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(reader) ?? 0)
    if (bytes === 0) this.#bytes.delete(reader)
    else this.#bytes.set(reader, bytes)
    if (bytes > shortBytes) this.#addLong(reader)
    else if (this.#long.delete(reader)) this.#removed(reader)
    const isFull = this.#total > sharedBytes && this.#long.size > 0
    if (isFull === (this.#turnOf !== undefined)) return
    if (isFull) this.#takeTurns()
    else this.#readAll()
  }

  #addLong(reader: Reader): void {
    if (this.#long.has(reader)) return
    this.#long.add(reader)
    if (this.#turnOf) reader.setMayRead(false)
  }

  #removed(reader: Reader): void {
    if (reader === this.#turnOf) this.#give(first(this.#long))
    else reader.setMayRead(true)
  }

  #takeTurns(): void {
    for (const reader of this.#long) reader.setMayRead(false)
    this.#give(first(this.#long))
  }

  #readAll(): void {
    this.#give(undefined)
    for (const reader of this.#long) reader.setMayRead(true)
  }

  #give(reader: Reader | undefined): void {
    this.#endTurn()
    this.#turnOf = reader
    if (!reader) return
    reader.setMayRead(true)
    this.#endTurn = this.#clock.after(turnMs, () => this.#pass(reader))
  }

  /** The time of a packet is over: it waits behind the others. */
  #pass(reader: Reader): void {
    this.#long.delete(reader)
    this.#long.add(reader)
    reader.setMayRead(false)
    this.#give(first(this.#long))
  }
}

function first<Item>(items: Iterable<Item>): Item | undefined {
  for (const item of items) return item
  return undefined
}
