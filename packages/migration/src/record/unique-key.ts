import { createHash } from 'node:crypto'

const dash = 0x2d
const mark = Buffer.from([0])

/**
 * The coalescing key of a unique id, as at Crossgear's Gearman door: `-` stands for the payload.
 * With an empty payload it stands for this job alone.
 */
export function keyOfUnique(
  unique: Buffer | undefined,
  payload: Buffer,
  importId: Buffer,
): Buffer | undefined {
  if (!unique || unique.length === 0) return undefined
  if (unique.length !== 1 || unique[0] !== dash) return unique
  const own = payload.length === 0 ? importId : createHash('sha256').update(payload).digest()
  return Buffer.concat([mark, own])
}

/** A client's unique id for a stored key. */
export function uniqueOfKey(key: Buffer | undefined): Buffer | undefined {
  return key?.[0] === 0 ? Buffer.from('-') : key
}
