import type { Level } from './job.ts'

/** A job that is pushed in the step in which another one dies. Its level and names are checked. */
export interface DeathCall {
  readonly lane: string
  /** The queue of its lane. */
  readonly queue: string
  readonly level: Level
  /** JSON text of a list. What died is added as its last element. */
  readonly args: string
  /** The pushed Faktory job, JSON text without `args` and `jid`. */
  readonly envelope: string
  readonly retries?: number
  readonly reserveForSeconds?: number
}

type Texts = Readonly<Partial<Record<string, string>>>

/**
 * A death call as it is stored with a job of this function and queue: JSON text of an object of strings, which the store reads.
 * Its `args` and `about` are open at their end, where the store adds jid and failure of the dead job.
 */
export function deathCallText(
  { lane, queue, level, args, envelope, retries, reserveForSeconds }: DeathCall,
  deceased: { readonly fn: string; readonly queue: string },
): string {
  const list = args.trim().slice(0, -1).trimEnd()
  return JSON.stringify({
    lane,
    queue,
    level: String(level),
    envelope,
    args: list === '[' ? list : `${list},`,
    about: JSON.stringify({ function: deceased.fn, queue: deceased.queue }).slice(0, -1),
    ...(retries !== undefined && { retries: String(retries) }),
    ...(reserveForSeconds !== undefined && { reserve_for: String(reserveForSeconds) }),
  } satisfies Texts)
}

/** The lane of the job that such a text pushes. */
export function deathLane(text: string): string {
  return (JSON.parse(text) as { readonly lane: string }).lane
}

/** Shortest jid of Faktory, bytes. */
const minJidBytes = 8

/**
 * The jid by which workers know a job that has none of its own: `xg-<the lane's number in base 36>-<id>`, the id padded with
 * zeros to the length that a jid must have.
 */
export function shownJid(laneNumber: number, id: number): string {
  const prefix = `xg-${laneNumber.toString(36)}-`
  return prefix + String(id).padStart(minJidBytes - prefix.length, '0')
}

/** The jid of the job that tells of the death of the job with this {@link shownJid}, at this time, milliseconds since 1970. */
export function deathJid(shown: string, nowMs: number): string {
  return `died-${shown.slice('xg-'.length)}-${nowMs}`
}
