import type { Socket } from 'node:net'
import type { PacketName } from '@crossgear/gearman-codec'
import type { PassedClient } from '../clients/copy-side.ts'
import { PassedConnection, type Tap } from '../clients/passed-connection.ts'
import type { Comparison } from '../results/comparison.ts'
import type { Comparisons } from '../results/comparisons.ts'
import type { MirrorCounts } from '../counts.ts'
import { Handles } from '../results/handles.ts'
import { PacketTap, type TappedPacket } from './packet-tap.ts'
import type { ServerAddress } from '../server-address.ts'
import { answers, isBackground, submissionNames, workNames } from './submission.ts'

/** Requests that an ERROR may answer: the mirror must know which one it belongs to. */
const requests = new Set<PacketName>([...submissionNames, 'OPTION_REQ'])
const replies = new Set<PacketName>([...answers, ...workNames])
/** A client with more unanswered requests is not read any further. */
const maxAsked = 100_000

interface Asked {
  /** The client waits for the result. */
  readonly isWaited: boolean
  readonly comparison: Comparison | undefined
}

export interface GearmanClientOptions {
  /** The server that does the client's jobs. */
  readonly address: ServerAddress
  readonly keptBytes: number
  readonly comparisons: Comparisons
  readonly counts: MirrorCounts
  /** Copies a submission if it is to be copied; returns the comparison. */
  readonly copy: (packet: TappedPacket) => Comparison | undefined
  readonly onClose: () => void
}

/** A Gearman client whose submissions and results are read as they go by. */
export class GearmanClient implements PassedClient {
  readonly #connection: PassedConnection
  readonly #options: GearmanClientOptions
  readonly #handles: Handles
  /** Unanswered requests. */
  #asked: Asked[] = []
  /** Handles of jobs that the client waits for. */
  readonly #waited = new Set<string>()
  #isRead = true

  constructor(client: Socket, options: GearmanClientOptions) {
    this.#options = options
    this.#handles = new Handles('original', options.comparisons)
    this.#connection = new PassedConnection(client, {
      address: options.address,
      fromClient: this.#tap('REQ', requests, (packet) => this.#ask(packet)),
      fromServer: this.#tap('RES', replies, (packet) => this.#answer(packet)),
      onClose: () => this.#forget(),
    })
  }

  /** True if the client visibly waits for nothing. */
  get isIdle(): boolean {
    return this.#isRead && this.#asked.length + this.#waited.size === 0
  }

  end(): void {
    this.#connection.end()
  }

  #tap(
    magic: 'REQ' | 'RES',
    names: ReadonlySet<PacketName>,
    onPacket: (packet: TappedPacket) => void,
  ): Tap {
    const tap = new PacketTap({ magic, names, keptBytes: this.#options.keptBytes, onPacket })
    return {
      push: (chunk) => {
        if (!this.#isRead) return
        tap.push(chunk)
        if (tap.isBroken || this.#asked.length + this.#waited.size > maxAsked) this.#stopReading()
      },
    }
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
