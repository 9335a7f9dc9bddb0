import { decode } from '@msgpack/msgpack'
import type { ScriptArgument } from './scripts.ts'

/** What is longer stands beside the packed list, bytes: it is copied less, and who keeps it does not keep everything. */
const besideFrom = 1024

/** Bytes before a value at most: of a number with itself, or of a string. */
const mostHead = 9

/** Heads of MessagePack. Redis' reader knows no `bin`: bytes are strings to it. */
const fixstr = 0xa0
const float64 = 0xcb
const str16 = 0xda
const str32 = 0xdb
const array32 = 0xdd
const no = 0xc2

/** A list as arguments that `unpackedArguments` of `lua/lib/packed.lua` reads. */
export function pack(list: readonly ScriptArgument[]): (Buffer | number)[] {
  const packed = new Pack(list)
  const beside: (Buffer | number)[] = []
  for (let at = 0; at < list.length; at += 1) {
    const value = list[at] ?? ''
    if (typeof value === 'number') packed.number(value)
    else if (typeof value === 'string') packed.text(value)
    else if (value.length < besideFrom) packed.bytes(value)
    else {
      packed.placeholder()
      beside.push(at + 1, Buffer.from(value.buffer, value.byteOffset, value.length))
    }
  }
  return [packed.done(), ...beside]
}

class Pack {
  readonly #to: Buffer
  #at = 5

  constructor(list: readonly ScriptArgument[]) {
    let most = 5
    for (const value of list) {
      most += mostHead
      // A UTF-16 unit is 3 bytes of UTF-8 at most.
      if (typeof value === 'string') most += 3 * value.length
      else if (typeof value !== 'number' && value.length < besideFrom) most += value.length
    }
    this.#to = Buffer.allocUnsafe(most)
    this.#to[0] = array32
    this.#to.writeUInt32BE(list.length, 1)
  }

  number(value: number): void {
    if (value >= 0 && value < 128 && Number.isInteger(value)) {
      this.#to[this.#at++] = value
      return
    }
    this.#to[this.#at] = float64
    this.#to.writeDoubleBE(value, this.#at + 1)
    this.#at += 9
  }

  text(value: string): void {
    if (value.length < 32 && this.#shortAscii(value)) return
    const bytes = Buffer.byteLength(value)
    this.#head(bytes)
    this.#to.write(value, this.#at)
    this.#at += bytes
  }

  bytes(value: Uint8Array): void {
    this.#head(value.length)
    this.#to.set(value, this.#at)
    this.#at += value.length
  }

  placeholder(): void {
    this.#to[this.#at++] = no
  }

  done(): Buffer {
    return this.#to.subarray(0, this.#at)
  }

  /** Most are names and figures: one by one is the fastest way to copy those. */
  #shortAscii(value: string): boolean {
    const to = this.#to
    const at = this.#at + 1
    for (let index = 0; index < value.length; index += 1) {
      const unit = value.charCodeAt(index)
      if (unit > 127) return false
      to[at + index] = unit
    }
    to[this.#at] = fixstr | value.length
    this.#at = at + value.length
    return true
  }

  #head(bytes: number): void {
    if (bytes < 32) {
      this.#to[this.#at++] = fixstr | bytes
    } else if (bytes < 65_536) {
      this.#to[this.#at] = str16
      this.#at = this.#to.writeUInt16BE(bytes, this.#at + 1)
    } else {
      this.#to[this.#at] = str32
      this.#at = this.#to.writeUInt32BE(bytes, this.#at + 1)
    }
  }
}

/** What a script packed. Strings are Buffers. */
export function unpack(reply: Buffer): unknown {
  return decode(reply, { rawStrings: true })
}
