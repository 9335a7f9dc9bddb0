import type { OnAct } from '../net/act.ts'
import type { PortOptions } from '../net/door-row.ts'
import type { RejectReason } from './replies.ts'

/** Options of the door. Defaults at the end of each line. */
export interface GearmanDoorOptions extends PortOptions<RejectReason> {
  /** Largest data part of a packet, bytes. 64 MiB. */
  readonly maxPacketBytes?: number
  /** Longest text line with its end, bytes. 8192. */
  readonly maxLineBytes?: number
  /** Most functions per worker: each claim looks through all of them. 1000. */
  readonly maxFunctions?: number
  /** Prefix of handles, such as `H:host`; cut at 38 bytes. */
  readonly handlePrefix: string
  /** Answer to the text command `version`. */
  readonly version: string
  /** Answer to the text command `verbose`. ERROR. */
  readonly verbosity?: string
  /** Clients get exceptions without asking for them. false. */
  readonly exceptionsForAll?: boolean
  /** The function of a worker's last job is tried last. false. */
  readonly roundRobin?: boolean
  /** Addresses and networks other than loopback whose text commands may change something. None. */
  readonly adminFrom?: readonly string[]
  /** Notes text commands that changed something. Nothing. */
  readonly acted?: OnAct
  /** The text command `shutdown` came. */
  readonly shutdown?: (graceful: boolean) => void
}
