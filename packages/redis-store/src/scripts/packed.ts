import { Decoder } from '@msgpack/msgpack'
import type { ScriptArgument } from './script-name.ts'

/**
 * Longer values stand outside the packed list, bytes: they are copied less often, and keeping one
 * does not keep the whole list.
 */
const outOfLineFrom = 1024

/** Most bytes before a value: a number with itself, or a string's head. */
const maxHead = 9

/** Heads of MessagePack. Redis's reader has no `bin`: bytes go as strings. */
const fixstr = 0xa0
const float64 = 0xcb
const str16 = 0xda
const str32 = 0xdb
const array32 = 0xdd
const no = 0xc2

/** Bytes allocated at once: a Buffer for each list would cost more than filling it. */
const slabBytes = 256 * 1024

/** `text.charCodeAt(at)` at one cost for all kinds of strings of the engine: a third where they mix. */
const codeAt = Function.prototype.call.bind(
  (String.prototype as { readonly charCodeAt: unknown }).charCodeAt as () => number,
) as (text: string, at: number) => number

/** Packs lists as arguments for `unpackedArguments` in `lua/lib/step/packed.lua`. */
export class Packer {
  #to = Buffer.alloc(0)
  #at = 0

  pack(list: readonly ScriptArgument[]): (Buffer | number)[] {
    this.#makeRoom(list)
    const first = this.#at
    const outOfLine: (Buffer | number)[] = []
    this.#to[first] = array32
    this.#at = this.#to.writeUInt32BE(list.length, first + 1)
    for (let at = 0; at < list.length; at += 1) {
      const value = list[at] ?? ''
      if (typeof value === 'number') this.#number(value)
      else if (typeof value === 'string') this.#text(value)
      else if (value.length < outOfLineFrom) this.#bytes(value)
      else {
        this.#to[this.#at++] = no
        outOfLine.push(at + 1, Buffer.from(value.buffer, value.byteOffset, value.length))
      }
    }
    return [this.#to.subarray(first, this.#at), ...outOfLine]
  }

  #makeRoom(list: readonly ScriptArgument[]): void {
    let max = 5
    for (const value of list) {
      max += maxHead
      // A UTF-16 unit takes at most 3 bytes of UTF-8.
      if (typeof value === 'string') max += 3 * value.length
      else if (typeof value !== 'number' && value.length < outOfLineFrom) max += value.length
    }
    if (this.#to.length - this.#at >= max) return
    // Buffers that were handed out stay as they are.
    this.#to = Buffer.allocUnsafeSlow(Math.max(max, slabBytes))
    this.#at = 0
  }

  #number(value: number): void {
    if (value >= 0 && value < 128 && Number.isInteger(value)) {
      this.#to[this.#at++] = value
      return
    }
    this.#to[this.#at] = float64
    this.#to.writeDoubleBE(value, this.#at + 1)
    this.#at += 9
  }

  #text(value: string): void {
    if (value.length < 32 && this.#shortAscii(value)) return
    const bytes = Buffer.byteLength(value)
    this.#head(bytes)
    this.#to.write(value, this.#at)
    this.#at += bytes
  }

  #bytes(value: Uint8Array): void {
    this.#head(value.length)
    this.#to.set(value, this.#at)
    this.#at += value.length
  }

  /** Most are names and figures, copied fastest byte by byte. */
  #shortAscii(value: string): boolean {
    const to = this.#to
    const at = this.#at + 1
    for (let index = 0; index < value.length; index += 1) {
      const unit = codeAt(value, index)
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

const decoder = new Decoder({ rawStrings: true })

/** Unpacks a script's answer. Strings are Buffers. */
export function unpack(reply: Buffer): unknown {
  return decoder.decode(reply)
}
