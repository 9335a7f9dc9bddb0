import { isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import {
  defaultMaxJobs,
  FwpError,
  parseCommand,
  parseJobText,
  scanArray,
} from '@crossgear/fwp-codec'
import type { ServerTarget } from '@crossgear/migration'
import type { CopySide, PassedClient } from '../clients/copy-side.ts'
import type { ServerAddress } from '../server-address.ts'
import { Share, type ShareOptions } from '../share.ts'
import { FaktoryClient } from './faktory-client.ts'
import { FaktoryPushes } from './faktory-pushes.ts'

/** Of a PUSHB, beyond what one job may have. */
const batchBytes = 8 * 1024 * 1024

export interface FaktorySideOptions extends ShareOptions {
  readonly from: ServerAddress
  readonly to: ServerTarget
  readonly maxPayloadBytes: number
  /** The other side went away, or is back where there is no error. */
  readonly onChange: (error?: Error) => void
}

/**
 * Pushes copies of what Faktory producers push to another Faktory server. Producers get no results,
 * so none are compared.
 */
export class FaktorySide implements CopySide {
  readonly #options: FaktorySideOptions
  readonly #pushes: FaktoryPushes
  readonly #share: Share

  constructor(options: FaktorySideOptions) {
    const { to, counts, onChange } = options
    this.#options = options
    this.#share = new Share(options)
    this.#pushes = new FaktoryPushes({ address: to.address, counts, onChange })
  }

  get isIdle(): boolean {
    return this.#pushes.asked === 0
  }

  open(): Promise<void> {
    return this.#pushes.open()
  }

  accept(client: Socket, onClose: () => void): PassedClient {
    const { from, maxPayloadBytes } = this.#options
    return new FaktoryClient(client, {
      address: from,
      keptBytes: maxPayloadBytes + batchBytes,
      onClose,
      onLine: (line, isCut) => this.#read(line, isCut),
    })
  }

  stop(): void {
    this.#share.stop()
  }

  sweep(): void {
    // Nothing waits for a result.
  }

  close(): void {
    this.#pushes.end()
  }

  #read(line: Buffer, isCut: boolean): void {
    const command = parseCommand(line)
    if (command.verb !== 'PUSH' && command.verb !== 'PUSHB') return
    if (isCut) this.#share.countCut()
    else for (const text of jobTexts(command.verb, command.argument)) this.#copy(text)
  }

  #copy(text: string): void {
    const fn = jobtypeOf(text)
    if (fn === undefined || !this.#share.take(fn)) return
    const isLong = Buffer.byteLength(text) > this.#options.maxPayloadBytes
    if (this.#share.copies({ isLong, isLate: !this.#pushes.isReady })) this.#pushes.send(text)
  }
}

/** The jobs of a push as they are written; none where the server will refuse all of it. */
function jobTexts(verb: 'PUSH' | 'PUSHB', argument: Buffer): readonly string[] {
  if (!isUtf8(argument)) return []
  const text = argument.toString()
  try {
    return verb === 'PUSH' ? [text] : scanArray(text, defaultMaxJobs, true)
  } catch (error) {
    if (error instanceof FwpError) return []
    throw error
  }
}

/** Undefined for a job that the server will refuse. */
function jobtypeOf(text: string): string | undefined {
  try {
    return parseJobText(text).jobtype
  } catch (error) {
    if (error instanceof FwpError) return undefined
    throw error
  }
}
