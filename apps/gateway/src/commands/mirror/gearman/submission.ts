import { encodeRequest, type PacketName, submissionTypes } from '@crossgear/gearman-codec'
import type { TappedPacket } from './packet-tap.ts'

/** Names of all submissions. */
export const submissionNames: readonly PacketName[] = submissionTypes.map(({ name }) => name)

/** Submissions whose clients do not wait for a result. */
const backgroundNames: ReadonlySet<PacketName> = new Set(
  submissionTypes.filter(({ isBackground }) => isBackground).map(({ name }) => name),
)

/** Packets that answer a submission or an option, in the order of the requests. */
export const answers: ReadonlySet<PacketName> = new Set(['JOB_CREATED', 'ERROR', 'OPTION_RES'])

/** Packets of a result. */
export const workNames: readonly PacketName[] = [
  'WORK_DATA',
  'WORK_COMPLETE',
  'WORK_FAIL',
  'WORK_EXCEPTION',
]

export function isBackground(name: PacketName): boolean {
  return backgroundNames.has(name)
}

/** The function that a submission names. */
export function functionOf({ args }: TappedPacket): string {
  return args[0]?.toString() ?? ''
}

/** The same submission again. */
export function encodeCopy({ name, args }: TappedPacket): Buffer {
  return encodeRequest(name as Parameters<typeof encodeRequest>[0], ...args)
}
