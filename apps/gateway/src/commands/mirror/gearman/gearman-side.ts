import type { Socket } from 'node:net'
import type { CopySide, PassedClient } from '../clients/copy-side.ts'
import type { ServerAddress } from '../server-address.ts'
import type { Comparison } from '../results/comparison.ts'
import { Comparisons, type Difference } from '../results/comparisons.ts'
import { Share, type ShareOptions } from '../share.ts'
import { CopyConnection } from './copy-connection.ts'
import { GearmanClient } from './gearman-client.ts'
import type { TappedPacket } from './packet-tap.ts'
import { functionOf, isBackground, workNames } from './submission.ts'

export interface GearmanSideOptions extends ShareOptions {
  readonly from: ServerAddress
  readonly to: ServerAddress
  /** Foreground copies without a result, at most. */
  readonly maxOutstanding: number
  readonly timeoutMs: number
  readonly maxPayloadBytes: number
  readonly onDifference: (difference: Difference) => void
  /** The other side went away, or is back where there is no error. */
  readonly onChange: (error?: Error) => void
}

/**
 * Submits copies of Gearman clients' jobs to another Gearman server. Results of copies are compared and counted, and go to
 * nobody.
 */
export class GearmanSide implements CopySide {
  readonly #options: GearmanSideOptions
  readonly #comparisons: Comparisons
  readonly #copies: CopyConnection
  readonly #share: Share

  constructor(options: GearmanSideOptions) {
    this.#options = options
    this.#share = new Share(options)
    const { counts, maxOutstanding: max, timeoutMs, onDifference, onChange } = options
    this.#comparisons = new Comparisons({ max, timeoutMs, counts, onDifference })
    this.#copies = new CopyConnection({
      address: options.to,
      comparisons: this.#comparisons,
      counts,
      onChange,
      keptBytes: options.maxPayloadBytes,
      resultNames: workNames,
    })
  }

  get isIdle(): boolean {
    return this.#comparisons.size === 0 && this.#copies.asked === 0
  }

  open(): Promise<void> {
    return this.#copies.open()
  }

  accept(client: Socket, onClose: () => void): PassedClient {
    const { from, maxPayloadBytes, counts } = this.#options
    return new GearmanClient(client, {
      address: from,
      keptBytes: maxPayloadBytes,
      comparisons: this.#comparisons,
      counts,
      copy: (packet) => this.#copy(packet),
      onClose,
    })
  }

  stop(): void {
    this.#share.stop()
  }

  sweep(nowMs: number): void {
    this.#comparisons.sweep(nowMs)
  }

  close(): void {
    this.#comparisons.dropAll()
    this.#copies.end()
  }

  #copy(packet: TappedPacket): Comparison | undefined {
    const fn = functionOf(packet)
    if (!this.#share.take(fn)) return undefined
    const isWaited = !isBackground(packet.name)
    const isLate = !this.#copies.isReady || (isWaited && this.#comparisons.isFull)
    if (!this.#share.copies({ isLong: packet.isCut, isLate })) return undefined
    const comparison = isWaited ? this.#comparisons.begin(fn, Date.now()) : undefined
    this.#copies.send(packet, comparison)
    return comparison
  }
}
