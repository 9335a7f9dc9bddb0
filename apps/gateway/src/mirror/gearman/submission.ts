import { encodeRequest, type PacketName } from '@crossgear/gearman-codec'
import type { TappedPacket } from './packet-tap.ts'

/** Submissions, and if their clients wait for a result. */
const submissions: Readonly<Partial<Record<PacketName, 'foreground' | 'background'>>> = {
  SUBMIT_JOB: 'foreground',
  SUBMIT_JOB_HIGH: 'foreground',
  SUBMIT_JOB_LOW: 'foreground',
  SUBMIT_REDUCE_JOB: 'foreground',
  SUBMIT_JOB_BG: 'background',
  SUBMIT_JOB_HIGH_BG: 'background',
  SUBMIT_JOB_LOW_BG: 'background',
  SUBMIT_JOB_EPOCH: 'background',
  SUBMIT_JOB_SCHED: 'background',
  SUBMIT_REDUCE_JOB_BACKGROUND: 'background',
}

/** Names of all submissions. */
export const submissionNames = Object.keys(submissions) as readonly PacketName[]

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
  return submissions[name] === 'background'
}

/** The function that a submission names. */
export function functionOf({ args }: TappedPacket): string {
  return args[0]?.toString() ?? ''
}

/** The same submission again. */
export function encodeCopy({ name, args }: TappedPacket): Buffer {
  return encodeRequest(name as Parameters<typeof encodeRequest>[0], ...args)
}
