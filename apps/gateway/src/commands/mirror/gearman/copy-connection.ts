import { connect, type Socket } from 'node:net'
import { encodeRequest, type PacketName } from '@crossgear/gearman-codec'
import type { Comparison } from '../results/comparison.ts'
import type { Comparisons } from '../results/comparisons.ts'
import type { MirrorCounts } from '../counts.ts'
import { Handles } from '../results/handles.ts'
import { PacketTap, type TappedPacket } from './packet-tap.ts'
import type { ServerAddress } from '../server-address.ts'
import { Reconnection } from '../reconnection.ts'
import { answers, encodeCopy } from './submission.ts'

/** More than that is not kept for a server that does not read. */
const maxUnsentBytes = 8 * 1024 * 1024
const maxAsked = 10_000

/** The next answer's request: the option, a background job, or a compared job. */
type Asked = 'option' | 'background' | Comparison

export interface CopyOptions {
  readonly address: ServerAddress
  readonly keptBytes: number
  /** Packets of a result. */
  readonly resultNames: readonly PacketName[]
  readonly comparisons: Comparisons
  readonly counts: MirrorCounts
  /** Called with the error when the other side is lost, and without one when it is back. */
  readonly onChange: (error?: Error) => void
}

/** The one connection for copies to the other side. It reconnects. */
export class CopyConnection {
  readonly #options: CopyOptions
  #socket: Socket | undefined
  readonly #reconnection: Reconnection
  #asked: Asked[] = []
  #handles: Handles

  constructor(options: CopyOptions) {
    this.#options = options
    this.#reconnection = new Reconnection(() => this.open(), options.onChange)
    this.#handles = new Handles('copy', options.comparisons)
  }

  /** True if a copy can be sent now. */
  get isReady(): boolean {
    const socket = this.#socket
    if (socket?.readyState !== 'open' || this.#asked.length >= maxAsked) return false
    return socket.writableLength < maxUnsentBytes
  }

  /** Submissions without an answer. */
  get asked(): number {
    return this.#asked.length
  }

  /** Settles when connected; rejects if that fails. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { host, port } = this.#options.address
      const socket = connect(port, host)
      let failure = new Error('the connection was closed')
      let isOpen = false
      socket.setNoDelay(true)
      const tap = this.#tap()
      socket.on('connect', () => {
        isOpen = true
        this.#socket = socket
        // Without it some servers do not report exceptions.
        this.#asked.push('option')
        socket.write(encodeRequest('OPTION_REQ', 'exceptions'))
        resolve()
      })
      socket.on('data', (chunk: Buffer) => {
        tap.push(chunk)
        if (tap.isBroken) socket.destroy(new Error('it does not speak Gearman'))
      })
      socket.on('error', (error) => (failure = error))
      socket.on('close', () => {
        if (isOpen) this.#lost(failure)
        else reject(failure)
      })
    })
  }

  /** Sends a copy. `comparison` is absent for a background job. */
  send(packet: TappedPacket, comparison: Comparison | undefined): void {
    this.#asked.push(comparison ?? 'background')
    this.#socket?.write(encodeCopy(packet))
  }

  end(): void {
    this.#reconnection.end()
    this.#socket?.destroy()
  }

  #tap(): PacketTap {
    return new PacketTap({
      magic: 'RES',
      names: new Set([...answers, ...this.#options.resultNames]),
      keptBytes: this.#options.keptBytes,
      onPacket: (packet) => this.#read(packet),
    })
  }

  #read(packet: TappedPacket): void {
    if (!answers.has(packet.name)) {
      this.#handles.read(packet)
      return
    }
    const asked = this.#asked.shift()
    if (asked === undefined || asked === 'option') return
    const [handle] = packet.args
    if (packet.name !== 'JOB_CREATED' || !handle) this.#refuse(asked)
    else if (asked === 'background') this.#options.counts.background += 1
    else this.#handles.add(handle, asked)
  }

  #refuse(asked: Exclude<Asked, 'option'>): void {
    if (asked === 'background') this.#options.counts.refused += 1
    else this.#options.comparisons.drop(asked, 'refused')
  }

  #lost(error: Error): void {
    this.#socket = undefined
    for (const asked of this.#asked.splice(0)) if (asked !== 'option') this.#refuse(asked)
    this.#handles.dropAll()
    this.#reconnection.lost(error)
  }
}
