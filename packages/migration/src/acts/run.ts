import { setTimeout as delay } from 'node:timers/promises'
import { MigrationError } from '../errors.ts'
import { faultOf, rejectOf } from '../record/fit.ts'
import { boundsOf, defaultMaxPayloadBytes, type RunOptions } from './options.ts'
import { reservedOf, textOfReserved } from './reserved-jobs.ts'
import { InOrder } from './in-order.ts'
import { LatestNote } from './latest-note.ts'
import { LeftNote } from './left-jobs.ts'
import type { JobRecord, Mutable, Reject } from '../record/record.ts'
import type { Selection } from './selection.ts'
import type { Page, Source } from '../source.ts'
import type { Ledger, Target } from '../target.ts'

/** Counts of a run so far. */
export interface RunCounts {
  /** Jobs read. */
  readonly read: number
  readonly created: number
  /** Known from an earlier run. */
  readonly known: number
  /** Joined a job with their unique id. */
  readonly joined: number
  /** Sent again: the first attempt may or may not have arrived. */
  readonly repeated: number
  readonly rejected: number
  /** Left out by the selection. */
  readonly leftOut: number
  /** Removed at the source. */
  readonly removed: number
}

export interface RunParts {
  readonly source: Source
  readonly target: Target
  /** Absent: no progress is kept, and the next run begins at the start. */
  readonly ledger?: Ledger
  readonly selection: Selection
  readonly options: RunOptions
  /** Ends the run after the current page. */
  readonly signal?: AbortSignal
  /** Called after each page. */
  readonly onProgress?: (counts: RunCounts) => void
  /** Called for each job that stays at the source. */
  readonly onReject?: (reject: Reject) => void
}

/** Pages being stored while another one is read. */
const pagesInAdvance = 3

const noCounts: RunCounts = {
  read: 0,
  created: 0,
  known: 0,
  joined: 0,
  repeated: 0,
  rejected: 0,
  leftOut: 0,
  removed: 0,
}

type Counts = Mutable<RunCounts>

/** How a run ended. */
export interface RunResult {
  readonly counts: RunCounts
  /** True if it was stopped before its end: the same command continues. */
  readonly isStopped: boolean
}

/**
 * Moves a source's jobs into a target, page by page. Each is stored once: a run killed at any
 * moment and repeated continues after the last noted page, and the target recognises its jobs.
 */
export async function run(parts: RunParts): Promise<RunResult> {
  const { source, target, options, ledger, signal } = parts
  checkOptions(parts)
  const counts: Counts = { ...noCounts }
  const left = new LeftNote()
  const saved = (await ledger?.progress(options.name)) ?? {}
  checkSource(saved, source, options.name)
  const isFirst = saved['state'] === undefined || saved['state'] === 'done'
  const earlier = isFirst ? undefined : saved['counts']
  /** The counts as they are noted, with those of earlier runs of an unfinished migration. */
  const counted = (): { readonly counts: string } => ({ counts: sumText(counts, earlier) })
  // In a source that changes, also by removals, a cursor does not name the same place twice.
  const isSteady = !options.isMove && !options.isWhileLive && !source.isLive
  const after = isFirst || !isSteady ? undefined : saved['cursor']
  const note = async (fields: Readonly<Record<string, string>>): Promise<void> => {
    if (!options.isDryRun) await ledger?.saveProgress(options.name, fields)
  }
  await note({
    source: source.identity,
    mode: options.isMove ? 'move' : 'copy',
    state: 'running',
    ...(isFirst && { started: new Date().toISOString(), cursor: '', ...counted() }),
  })
  const isMoving = options.isMove === true && !options.isDryRun
  // A killed run may have removed these without a note: the same names now mean other jobs.
  if (isMoving && !isFirst) await target.movedIds?.((await source.lastRemoved?.()) ?? [])
  if (isMoving && !isFirst) await finishReserved(saved['reserved'], parts, counts)
  const startedMs = Date.now()
  const pages = source.pages(after === '' ? undefined : after, boundsOf(options))
  const isPipelined = isSteady && target.takesPagesInAdvance === true
  const underWay = new InOrder(isPipelined ? pagesInAdvance : 0)
  const pageNotes = new LatestNote(
    (fields: Readonly<Record<'cursor' | 'counts' | 'left', string>>) =>
      note({ ...fields, updated: new Date().toISOString() }),
  )
  const settle = async (): Promise<void> => {
    await underWay.end()
    await pageNotes.end()
  }
  for await (const page of isSteady ? inAdvance(pages) : pages) {
    const moving = movePage(page, parts, counts, left, note)
    await underWay.add(moving, () => {
      pageNotes.add({ cursor: page.cursor, left: left.text, ...counted() })
      parts.onProgress?.(counts)
    })
    if (signal?.aborted) {
      await settle()
      await note({ state: 'stopped', ...counted() })
      return { counts, isStopped: true }
    }
    await keepRate(counts.read, startedMs, options.ratePerSecond)
  }
  await settle()
  // A killed run removed these without a note: the source has none of them now.
  if (isMoving && !isFirst) await target.movedAll?.()
  if (isMoving) await source.forgetRemoved?.()
  await note({ state: 'done', reserved: '', left: left.text, ...counted() })
  return { counts, isStopped: false }
}

/** Removes jobs that a killed run had stored, and that its source keeps out of reach. */
async function finishReserved(
  text: string | undefined,
  { source, target }: RunParts,
  counts: Counts,
): Promise<void> {
  const names = reservedOf(text)
  if (names.length === 0) return
  const known = (await target.known?.(names)) ?? []
  const there = names.filter((_name, at) => known[at])
  await source.finish?.(there)
  await target.moved?.(there)
  counts.removed += there.length
}

async function movePage(
  page: Page,
  parts: RunParts,
  counts: Counts,
  left: LeftNote,
  note: (fields: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  const { source, target, selection, options, onReject } = parts
  const max = options.maxPayloadBytes ?? defaultMaxPayloadBytes
  const picked: JobRecord[] = []
  /** The record as read, by the record as stored. */
  const origins: JobRecord[] = []
  const reject = (rejected: Reject): void => {
    counts.rejected += 1
    left.add(rejected)
    onReject?.(rejected)
  }
  counts.read += page.records.length + page.rejects.length
  for (const rejected of page.rejects) reject(rejected)
  for (const origin of page.records) {
    const record = selection.pick(origin)
    const fault = record && (faultOf(record, max) ?? target.faultOf?.(record))
    if (!record) counts.leftOut += 1
    else if (fault) reject(rejectOf(fault[0], record.fn, fault[1], record.payload))
    else {
      picked.push(record)
      origins.push(origin)
    }
  }
  if (picked.length === 0) return
  if (options.isDryRun) {
    const known = (await target.known?.(picked)) ?? []
    const there = known.filter(Boolean).length
    counts.known += there
    counts.created += picked.length - there
    return
  }
  if (options.isMove && source.finish) await note({ reserved: textOfReserved(picked) })
  const results = await target.store(picked)
  const there: number[] = []
  for (const [at, result] of results.entries()) {
    const record = picked[at]
    if (!record) continue
    if (result.kind === 'rejected') {
      reject(rejectOf(result.reason, record.fn, result.message, record.payload))
    } else {
      counts[result.kind] += 1
      there.push(at)
    }
  }
  if (!options.isMove || !source.remove) return
  await source.remove(there.flatMap((at) => origins[at] ?? []))
  await target.moved?.(there.flatMap((at) => picked[at] ?? []))
  counts.removed += there.length
}

function checkOptions({ source, options }: RunParts): void {
  if (source.liveReason !== undefined && !options.isWhileLive) {
    const advice = 'stop its server first, or use --while-live'
    throw new MigrationError('USAGE', `The source is in use: ${source.liveReason}; ${advice}.`)
  }
  if (source.unseenReason !== undefined && !options.isStopped && !options.isWhileLive) {
    const why = `It cannot be told whether the source is in use: ${source.unseenReason}`
    throw new MigrationError('USAGE', `${why}. Stop its server and use --stopped.`)
  }
  if (source.isLive && !options.isMove && !options.isDryRun) {
    throw new MigrationError('USAGE', 'A live server keeps no copy of a job: use --move.')
  }
  if (options.isMove && !source.remove) {
    throw new MigrationError('USAGE', 'Nothing can be removed from this source: do not use --move.')
  }
}

function checkSource(saved: Readonly<Record<string, string>>, source: Source, name: string): void {
  const other = saved['source']
  if (other === undefined || other === source.identity) return
  const what = `The migration ${name} reads ${other}`
  throw new MigrationError('USAGE', `${what}: give this one another --name.`)
}

async function keepRate(jobs: number, startedMs: number, perSecond?: number): Promise<void> {
  if (perSecond === undefined) return
  const earlyMs = startedMs + (jobs * 1000) / perSecond - Date.now()
  if (earlyMs > 0) await delay(earlyMs)
}

/** Counts as JSON, with earlier ones, JSON as well, added. */
function sumText(counts: RunCounts, earlier = '{}'): string {
  const before = JSON.parse(earlier) as Partial<RunCounts>
  const names = Object.keys(counts) as readonly (keyof RunCounts)[]
  return JSON.stringify(
    Object.fromEntries(names.map((name) => [name, counts[name] + (before[name] ?? 0)])),
  )
}

/** The same items; the next one is fetched while one is being handled. */
async function* inAdvance<Item>(items: AsyncGenerator<Item>): AsyncGenerator<Item> {
  let next = items.next()
  try {
    for (;;) {
      const result = await next
      if (result.done === true) return
      next = items.next()
      // The error of a read in advance is thrown in turn, below.
      next.catch(() => undefined)
      yield result.value
    }
  } finally {
    await next.catch(() => undefined)
    await items.return(undefined)
  }
}
