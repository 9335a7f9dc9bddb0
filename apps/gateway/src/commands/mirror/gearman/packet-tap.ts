import { type PacketName, packetTypes, splitArguments } from '@crossgear/gearman-codec'

const headBytes = 12
const lineFeed = 0x0a
const magics = { REQ: Buffer.from('\0REQ'), RES: Buffer.from('\0RES') } as const

/** A packet that went by. */
export interface TappedPacket {
  readonly name: PacketName
  readonly args: readonly Buffer[]
  /** Size of its data on the wire, bytes. */
  readonly size: number
  /** True if it was longer than the kept bytes: its last argument is cut. */
  readonly isCut: boolean
}

export interface TapOptions {
  readonly magic: keyof typeof magics
  /** Other packets pass unread. */
  readonly names: ReadonlySet<PacketName>
  /** Bytes kept of a packet. */
  readonly keptBytes: number
  readonly onPacket: (packet: TappedPacket) => void
}

/** Reads the packets of a passing stream in bounded memory, without delaying or changing it. */
export class PacketTap {
  readonly #options: TapOptions
  #head = Buffer.alloc(0)
  #isInLine = false
  #isBroken = false
  #pieces: Buffer[] = []
  /** Bytes of the packet's data still to come, and how many of them to keep. */
  #left = 0
  #wanted = 0

  constructor(options: TapOptions) {
    this.#options = options
  }

  /** True once the stream is not Gearman's: it is no longer read. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#isBroken;) {
      if (this.#left > 0) at = this.#takeData(chunk, at)
      else if (this.#isInLine || (this.#head.length === 0 && chunk[at] !== 0))
        at = this.#passLine(chunk, at)
      else at = this.#takeHead(chunk, at)
    }
  }

  /** Text commands may stand between packets. */
  #passLine(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(lineFeed, at)
    this.#isInLine = end < 0
    return end < 0 ? chunk.length : end + 1
  }

  #takeHead(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + headBytes - this.#head.length)
    this.#head = Buffer.concat([this.#head, chunk.subarray(at, end)])
    if (this.#head.length < headBytes) return end
    this.#isBroken = !this.#head.subarray(0, 4).equals(magics[this.#options.magic])
    this.#left = this.#head.readUInt32BE(8)
    const isWanted = this.#options.names.has(this.#name() ?? 'UNUSED')
    this.#wanted = isWanted ? Math.min(this.#left, this.#options.keptBytes) : 0
    if (this.#left === 0) this.#finish()
    return end
  }

  #takeData(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left)
    this.#left -= end - at
    if (this.#wanted > 0) {
      // A copy, so that it does not pin the chunk.
      const piece = Buffer.from(chunk.subarray(at, Math.min(end, at + this.#wanted)))
      this.#pieces.push(piece)
      this.#wanted -= piece.length
    }
    if (this.#left === 0) this.#finish()
    return end
  }

  #finish(): void {
    const size = this.#head.readUInt32BE(8)
    const name = this.#name()
    const body = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#head = Buffer.alloc(0)
    if (this.#isBroken || !name || !this.#options.names.has(name)) return
    const type = packetTypes.find((known) => known.name === name)
    const args = type && splitArguments(type, body, 0, body.length)
    if (args) this.#options.onPacket({ name, args, size, isCut: size > body.length })
  }

  #name(): PacketName | undefined {
    return packetTypes[this.#head.readUInt32BE(4) - 1]?.name
  }
}
