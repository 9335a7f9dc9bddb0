import type { Buffer } from 'node:buffer'
import type { PacketType } from './packet-types.ts'

const noArguments: readonly Buffer[] = Object.freeze([])

/**
 * Cuts the data part `body[start, end)` into the arguments of a packet type, without copying. Accepts what peers send: a
 * last argument ended by a NUL, data after a packet without arguments, a work packet without its last argument (Perl).
 *
 * @returns `undefined` if the data ends before its arguments do.
 */
export function splitArguments(
  type: PacketType,
  body: Buffer,
  start: number,
  end: number,
): readonly Buffer[] | undefined {
  const last = type.args.length - 1
  if (last < 0) return noArguments
  const args: Buffer[] = []
  let at = start
  for (let index = 0; index < last; index++) {
    const nul = body.indexOf(0, at)
    if (nul < 0 || nul >= end) {
      if (index < last - 1 || !isWorkPacket(type)) return undefined
      return [...args, body.subarray(at, end), body.subarray(end, end)]
    }
    args.push(body.subarray(at, nul))
    at = nul + 1
  }
  let stop = end
  if (!type.blob) {
    const nul = body.indexOf(0, at)
    if (nul >= 0 && nul < end) stop = nul
  }
  args.push(body.subarray(at, stop))
  return args
}

/** True for a worker's report on its job, which the server passes on unchanged. */
function isWorkPacket(type: PacketType): boolean {
  return type.magics.length === 2
}
