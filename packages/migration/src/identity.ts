import { hash } from 'node:crypto'
import type { JobRecord } from './record.ts'

const importIdBytes = 16
const digestBytes = 8
/** Of a length in decimal and its colon. */
const mostHeadBytes = 16

/** The import id of a job: what its source is called, and what tells the job from the source's others. */
export function importIdOf(source: string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  return hashOf([source, ...parts]).subarray(0, importIdBytes)
}

/** The compared fields of a job. Its due time is compared beside them: it is gone when the job is due. */
export type Compared = Pick<JobRecord, 'payload' | 'level' | 'jid'> & {
  /** The key under which it coalesces, as a store keeps it. */
  readonly key?: Uint8Array
}

/** 8 bytes that stand for what a job holds. */
export function digestOf({ payload, level, jid = '', key = empty }: Compared): Buffer {
  return hashOf([String(level), jid, key, payload]).subarray(0, digestBytes)
}

/** 4 bytes that stand for a migration's name. */
export function tagOf(name: string): Buffer {
  return hashOf([name]).subarray(0, 4)
}

const empty = new Uint8Array(0)

/**
 * Each part with its length before it, so that no two lists are hashed alike. All of it goes into one piece of memory:
 * this is done twice for each job.
 */
function hashOf(parts: readonly (string | Uint8Array)[]): Buffer {
  let bytes = 0
  for (const part of parts) bytes += mostHeadBytes + (isText(part) ? 3 * part.length : part.length)
  const all = Buffer.allocUnsafe(bytes)
  let at = 0
  for (const part of parts) {
    const size = isText(part) ? Buffer.byteLength(part) : part.length
    at += all.write(`${size}:`, at, 'latin1')
    if (isText(part)) at += all.write(part, at)
    else {
      all.set(part, at)
      at += size
    }
  }
  return hash('sha256', all.subarray(0, at), 'buffer')
}

function isText(part: string | Uint8Array): part is string {
  return typeof part === 'string'
}
