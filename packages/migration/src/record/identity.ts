import { hash } from 'node:crypto'
import type { Level } from '@crossgear/core-scheduler'

const importIdBytes = 16
const digestBytes = 8
const tagBytes = 4
const zero = 0x30
const colon = 0x3a
/** Of a length in decimal and its colon. */
const maxHeadBytes = 16

/**
 * The import id of a job: made of its source's name, and of the parts that distinguish it there.
 */
export function importIdOf(source: string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  return hashOf([source, ...parts], importIdBytes)
}

/**
 * 8 bytes that stand for a job's content. Its due time is compared separately: it is gone once the job is due. `key`: the
 * key under which it coalesces, as a store keeps it.
 */
export function digestOf(
  payload: Uint8Array,
  level: Level,
  jid = '',
  key: Uint8Array = empty,
): Buffer {
  return hashOf([String(level), jid, key, payload], digestBytes)
}

/** 4 bytes for a migration's name. */
export function tagOf(name: string): Buffer {
  return hashOf([name], tagBytes)
}

const empty = new Uint8Array(0)

/**
 * Each part follows its length, so that no two lists hash alike. One buffer and a string digest
 * cost a third of a Buffer digest: this runs twice per job.
 */
function hashOf(parts: readonly (string | Uint8Array)[], size: number): Buffer {
  let max = 0
  for (const part of parts) max += maxHeadBytes + (isText(part) ? 3 * part.length : part.length)
  const all = Buffer.allocUnsafe(max)
  let at = 0
  for (const part of parts) {
    const bytes = isText(part) ? Buffer.byteLength(part) : part.length
    at = writeHead(all, at, bytes)
    if (isText(part)) all.write(part, at)
    else all.set(part, at)
    at += bytes
  }
  return Buffer.from(hash('sha256', all.subarray(0, at), 'binary').slice(0, size), 'latin1')
}

/** Writes a length in decimal and a colon. Most are short. */
function writeHead(to: Buffer, at: number, length: number): number {
  if (length > 99) return at + to.write(`${length}:`, at, 'latin1')
  let next = at
  if (length > 9) to[next++] = zero + Math.floor(length / 10)
  to[next++] = zero + (length % 10)
  to[next++] = colon
  return next
}

function isText(part: string | Uint8Array): part is string {
  return typeof part === 'string'
}
