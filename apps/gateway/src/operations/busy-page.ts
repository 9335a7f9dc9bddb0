import type { Clock, Scheduler } from '@crossgear/core-scheduler'
import type { Worker, Workers } from '../doors/faktory/workers.ts'
import { type Answer, BodyError, json, type PageRequest, readJson } from './page.ts'

/** A wid that stands for every worker. */
const allWorkers = 'all'

/**
 * The page `/busy`: GET lists this gateway's Faktory workers; POST `{"wid", "signal"}` orders one of them, or `all`, at any
 * gateway, to go `quiet` or to `terminate`, with the answer to its next BEAT.
 */
export async function answerBusy(
  { scheduler, workers, clock }: BusyParts,
  request: PageRequest,
): Promise<Answer> {
  const { method = 'GET' } = request
  if (method === 'GET' || method === 'HEAD') {
    const nowMs = clock.nowMs()
    const all = [...(workers?.all() ?? [])]
    return json(200, { workers: all.map((worker) => shown(worker, nowMs)) })
  }
  if (method !== 'POST') return json(405, { error: 'use GET, HEAD or POST' })
  try {
    const order = orderOf(await readJson(request))
    if (!order) return json(400, { error: 'give wid, and as signal quiet or terminate' })
    const { wid, signal } = order
    await scheduler.queues.order(wid === allWorkers ? '*' : wid, signal)
    return json(202, { wid, signal })
  } catch (error) {
    if (error instanceof BodyError) return json(400, { error: error.message })
    throw error
  }
}

/** An order to workers, with the names of Faktory's own page `/busy`; undefined for what is none. */
function orderOf(body: unknown) {
  const { wid, signal, ...others } = Object(body) as Readonly<Record<string, unknown>>
  const isWid = typeof wid === 'string' && /^[^\0]{1,255}$/.test(wid)
  const isSignal = signal === 'quiet' || signal === 'terminate'
  if (!isWid || !isSignal || Object.keys(others).length > 0) return undefined
  return { wid, signal } as const
}

export interface BusyParts {
  readonly scheduler: Scheduler
  /** Undefined if the gateway has no Faktory door. */
  readonly workers: Workers | undefined
  readonly clock: Clock
}

function shown({ hello, state, rssKb, held, connections, lastBeatMs }: Worker, nowMs: number) {
  const { wid, hostname, pid, labels } = hello
  return {
    wid,
    hostname,
    pid,
    labels,
    state,
    rss_kb: rssKb,
    jobs: held.size,
    connections: connections.size,
    seconds_since_beat: Math.round((nowMs - lastBeatMs) / 1000),
  }
}
