import type { Session } from '../session.ts'

/** What is done for one packet. The arguments are as many as the packet type has. */
export type PacketHandler = (session: Session, args: readonly Buffer[]) => void

const absent = Buffer.alloc(0)

/** One argument of a packet. */
export function argument(args: readonly Buffer[], at: number): Buffer {
  return args[at] ?? absent
}
