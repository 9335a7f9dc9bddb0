import type { PausedKind, PauseNote, ServerReport } from '@crossgear/core-scheduler'
import { inPieces } from '../../../../in-pieces.ts'
import type { Handlers } from '../../api.ts'
import type { HandlerParts } from '../../handler-parts.ts'
import type { Scope } from '../../scope.ts'
import { isoTime } from '../../schemas/common.ts'
import { troubleCodes, type troubles, troublesOfKind } from '../../schemas/troubles.ts'
import { type LaneFigures, queuedIn } from '../../../../operations/metrics/store-snapshot.ts'
import type { SnapshotView } from '../snapshot-view.ts'
import { pausedWords, shortName, timeText } from '../waits/reason.ts'
import { GrowingAges } from './growing-ages.ts'
import type { Static } from '@sinclair/typebox'

/** A gateway beats once a second, and others take over after three. */
const silentSeconds = 3

/** Tells of what is wrong in the store, the worst first. */
export function troubleReads({ scheduler, view, waits, fleet, config }: HandlerParts) {
  const { queues, registry } = scheduler
  const ages = new GrowingAges()

  const pause = (kind: PausedKind, name: string, jobs: number): Trouble => {
    const note: PauseNote | undefined = queues.pauseOf(kind, name)
    const operation = kind === 'queue' ? 'resumeQueues' : 'resumeFunctions'
    return {
      code: `paused_${kind}`,
      kind,
      name,
      text: capital(pausedWords(note)),
      since: isoTime(note?.atMs),
      jobs,
      act: { operation, name },
    }
  }

  const pauses = async (latest: SnapshotView, scope: Scope | undefined) => {
    const { queues: known } = await latest.whole()
    const waiting = new Map<string, number>()
    await inPieces(latest.snapshot.lanes, ({ fn, counts, isPaused }) => {
      if (!isPaused) return
      // A pause names a function, or one line of it.
      for (const name of new Set([fn, counts.lane])) {
        waiting.set(name, (waiting.get(name) ?? 0) + queuedIn(counts))
      }
    })
    return [
      ...[...queues.pausedFunctions]
        .filter((name) => scope?.hasFunction(name) !== false)
        .map((name) => pause('function', name, waiting.get(name) ?? 0)),
      ...[...queues.paused]
        .filter((name) => known.has(name) || scope?.has(name) !== false)
        .map((name) => pause('queue', name, known.get(name)?.sums.waiting ?? 0)),
    ]
  }

  /** Lines with waiting jobs that no worker gets. */
  const unserved = async ({ snapshot }: SnapshotView): Promise<readonly Trouble[]> => {
    const lanes = snapshot.lanes
      .filter(({ counts, isPaused }) => queuedIn(counts) > 0 && counts.workers === 0 && !isPaused)
      .toSorted((one, other) => queuedIn(other.counts) - queuedIn(one.counts))
    const reasons = await waits.ofLanes(lanes.slice(0, troublesOfKind * 2))
    return lanes.flatMap((lane, at): Trouble[] => {
      const reason = reasons[at]
      const code = reason?.code === 'closed' ? 'closed' : 'no_worker'
      if (reason && reason.code !== code) return []
      const { text = 'No worker', since = null, act = null } = reason ?? {}
      return [{ code, ...ofLane(lane, text), since, act }]
    })
  }

  const growing = async (whole: SnapshotView, scope: Scope | undefined) => {
    const { lanes, atMs } = whole.snapshot
    const found = await ages.look(lanes, atMs)
    return found
      .filter(({ lane }) => scope?.hasLane(lane.counts.lane) !== false)
      .map(({ lane, moreSeconds, withinSeconds }): Trouble => {
        const waited = `The oldest job has waited ${spanText(lane.oldestSeconds)}`
        const text = `${waited}, ${spanText(moreSeconds)} more than ${spanText(withinSeconds)} before`
        const since = isoTime(atMs - lane.oldestSeconds * 1000)
        return { code: 'age', ...ofLane(lane, text), since, act: null }
      })
  }

  /** Functions that have jobs whose workers went away with them. */
  const vanished = async (scope: Scope | undefined): Promise<readonly Trouble[]> => {
    const byFunction = new Map<string, { jobs: number; forMs: number }>()
    for (const { lane, forMs } of await fleet.gone()) {
      if (scope?.hasLane(lane) === false) continue
      const { fn } = registry.names.parse(lane)
      const of = byFunction.get(fn) ?? { jobs: 0, forMs: 0 }
      byFunction.set(fn, { jobs: of.jobs + 1, forMs: Math.max(of.forMs, forMs) })
    }
    return [...byFunction].map(([name, { jobs, forMs }]): Trouble => {
      const sinceMs = scheduler.storeNowMs() - forMs
      const those =
        jobs === 1 ? 'A worker vanished with a job' : `Workers vanished with ${jobs} jobs`
      return {
        code: 'vanished',
        kind: 'function',
        name,
        text: `${those}${jobs === 1 ? '' : ', the first'} at ${timeText(sinceMs)}`,
        since: isoTime(sinceMs),
        jobs,
        act: null,
      }
    })
  }

  const silent = ({ snapshot: { nodes, atMs } }: SnapshotView): readonly Trouble[] =>
    [...nodes]
      .filter(([, seconds]) => seconds >= silentSeconds)
      .map(([name, seconds]): Trouble => {
        const sinceMs = atMs - seconds * 1000
        const text = `Silent since ${timeText(sinceMs)}`
        const since = isoTime(sinceMs)
        return { code: 'silent_gateway', kind: 'gateway', name, text, since, jobs: null, act: null }
      })

  /** Values that the answers of a snapshot show besides: see {@link SnapshotView.answer}. */
  const shows = () => [queues.paused, queues.pausedFunctions, queues.pauseNotes, config()]

  return {
    async getTroubles({ scope }) {
      const [whole, latest] = [await view.get(), await view.get(scope)]
      return latest.answer(['troubles'], shows(), async () => {
        const servers: readonly ServerReport[] = await scheduler.inspect.servers()
        const found = await Promise.all([
          vanished(scope),
          unserved(latest),
          growing(whole, scope),
          pauses(latest, scope),
        ])
        const { listed, more } = ordered([
          ...servers.flatMap(serverTroubles),
          ...silent(whole),
          ...found.flat(),
        ])
        return { at: latest.at, troubles: [...listed], more, servers: servers.map(serverView) }
      })
    },
  } satisfies Partial<Handlers>
}

/** A trouble of a line is one of its function. */
function ofLane({ counts, fn, queue }: LaneFigures, text: string) {
  const where = counts.lane === fn ? '' : `In the queue ${shortName(queue)}: `
  return { kind: 'function', name: fn, text: `${where}${text}`, jobs: queuedIn(counts) } as const
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** One thing that is wrong, as the API says it. */
type Trouble = Static<typeof troubles>['troubles'][number]

/** The worst first, of each kind those that concern most jobs; and how many are left out. */
function ordered(all: readonly Trouble[]): {
  readonly listed: readonly Trouble[]
  readonly more: number
} {
  const listed = troubleCodes.flatMap((code) =>
    all
      .filter((trouble) => trouble.code === code)
      .toSorted((one, other) => (other.jobs ?? 0) - (one.jobs ?? 0))
      .slice(0, troublesOfKind),
  )
  return { listed, more: all.length - listed.length }
}

/** A span of time in a sentence. */
function spanText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** Shares of maxmemory, or of the machine's memory without one, from which it is said. */
const much = 0.8
const mib = 1024 * 1024

/** Troubles of a server of the store. */
export function serverTroubles(report: ServerReport): readonly Trouble[] {
  const { server, policy, maxBytes, machineBytes, usedBytes, hasFailed, isAppendOnly } = report
  const found: Trouble[] = []
  const add = (code: Trouble['code'], text: string): void => {
    found.push({ code, kind: 'server', name: server, text, since: null, jobs: null, act: null })
  }
  if (hasFailed) {
    const what = isAppendOnly ? 'its append-only file' : 'its last snapshot'
    add('persistence', `The store could not write ${what}: look at its disk and its log`)
  }
  if (policy !== 'noeviction' && maxBytes > 0) {
    add('eviction', `maxmemory-policy ${policy}: a full store drops jobs; set noeviction`)
  }
  const all = maxBytes || machineBytes
  if (all > 0 && usedBytes >= much * all) {
    const of = maxBytes > 0 ? 'its maxmemory' : 'the memory of its machine'
    const share = Math.floor((100 * usedBytes) / all)
    add(
      'memory',
      `The store uses ${inMib(usedBytes)}, ${share} % of ${of}: a full one takes no jobs`,
    )
  }
  return found
}

/** A server as the API shows it. */
function serverView(report: ServerReport) {
  return {
    server: report.server,
    used_bytes: report.usedBytes,
    max_bytes: report.maxBytes || null,
    machine_bytes: report.machineBytes,
    policy: report.policy,
    is_append_only: report.isAppendOnly,
    last_save: isoTime(report.savedMs),
    unsaved_changes: report.unsaved,
  }
}

function inMib(bytes: number): string {
  return `${Math.ceil(bytes / mib).toLocaleString('en-US')} MiB`
}
