import { connect, type Socket } from 'node:net'
import type { PacketName } from '@crossgear/gearman-codec'
import type { Comparison } from '../results/comparison.ts'
import type { Comparisons } from '../results/comparisons.ts'
import type { MirrorCounts } from '../counts.ts'
import { Handles } from '../results/handles.ts'
import { PacketTap, type TappedPacket } from './packet-tap.ts'
import type { Place } from '../place.ts'
import { answers, isBackground, submissionNames, workNames } from './submission.ts'

/** Requests that ERROR may answer, so that the mirror must know whose turn it is. */
const requests = new Set<PacketName>([...submissionNames, 'OPTION_REQ'])
const replies = new Set<PacketName>([...answers, ...workNames])
/** A client with more unanswered requests is not read any further. */
const mostAsked = 100_000

interface Asked {
  /** The client waits for the result. */
  readonly isWaited: boolean
  readonly comparison: Comparison | undefined
}

export interface ClientOptions {
  /** The server that does the client's jobs. */
  readonly place: Place
  readonly keptBytes: number
  readonly comparisons: Comparisons
  readonly counts: MirrorCounts
  /** Copies a submission if it is to be copied; returns the comparison. */
  readonly copy: (packet: TappedPacket) => Comparison | undefined
  readonly onClose: () => void
}

/** A client and its server; passes every byte on unchanged. */
export class ClientConnection {
  readonly #client: Socket
  readonly #server: Socket
  readonly #options: ClientOptions
  readonly #handles: Handles
  /** Unanswered requests. */
  #asked: Asked[] = []
  /** Handles of jobs that the client waits for. */
  readonly #waited = new Set<string>()
  #isRead = true

  constructor(client: Socket, options: ClientOptions) {
    this.#client = client
    this.#options = options
    this.#handles = new Handles('original', options.comparisons)
    this.#server = connect(options.place.port, options.place.host)
    this.#pass(
      client,
      this.#server,
      this.#tap('REQ', requests, (packet) => this.#ask(packet)),
    )
    this.#pass(
      this.#server,
      client,
      this.#tap('RES', replies, (packet) => this.#answer(packet)),
    )
    let open = 2
    for (const socket of [client, this.#server]) {
      socket.setNoDelay(true)
      socket.on('error', () => this.end())
      socket.on('close', () => {
        open -= 1
        this.end()
        if (open === 0) this.#forget()
      })
    }
  }

  /** True if the client visibly waits for nothing. */
  get isIdle(): boolean {
    return this.#isRead && this.#asked.length + this.#waited.size === 0
  }

  end(): void {
    this.#client.destroySoon()
    this.#server.destroySoon()
  }

  /** Passes bytes on; reads no faster than the other end takes them. */
  #pass(from: Socket, to: Socket, tap: PacketTap): void {
    from.on('data', (chunk: Buffer) => {
      if (!to.write(chunk)) {
        from.pause()
        to.once('drain', () => from.resume())
      }
      if (!this.#isRead) return
      tap.push(chunk)
      if (tap.isBroken || this.#asked.length + this.#waited.size > mostAsked) this.#stopReading()
    })
    from.on('end', () => to.end())
  }

  #tap(
    magic: 'REQ' | 'RES',
    names: ReadonlySet<PacketName>,
    onPacket: (packet: TappedPacket) => void,
  ): PacketTap {
    return new PacketTap({ magic, names, keptBytes: this.#options.keptBytes, onPacket })
  }

  #ask(packet: TappedPacket): void {
    const isJob = packet.name !== 'OPTION_REQ'
    const isWaited = isJob && !isBackground(packet.name)
    this.#asked.push({ isWaited, comparison: isJob ? this.#options.copy(packet) : undefined })
  }

  #answer(packet: TappedPacket): void {
    const { name, args } = packet
    const handle = args[0]
    if (!answers.has(name)) {
      if (name !== 'WORK_DATA') this.#waited.delete(handle?.toString('latin1') ?? '')
      this.#handles.read(packet)
      return
    }
    const asked = this.#asked.shift()
    const isTaken = name === 'JOB_CREATED' && handle !== undefined
    if (isTaken && asked?.isWaited === true) this.#waited.add(handle.toString('latin1'))
    if (!asked?.comparison) return
    if (isTaken) this.#handles.add(handle, asked.comparison)
    else this.#options.comparisons.drop(asked.comparison, 'unanswered')
  }

  #stopReading(): void {
    this.#isRead = false
    this.#options.counts.unread += 1
    this.#forgetJobs()
  }

  #forgetJobs(): void {
    for (const { comparison } of this.#asked.splice(0)) {
      if (comparison) this.#options.comparisons.drop(comparison, 'unanswered')
    }
    this.#handles.dropAll()
  }

  #forget(): void {
    this.#forgetJobs()
    this.#options.onClose()
  }
}
