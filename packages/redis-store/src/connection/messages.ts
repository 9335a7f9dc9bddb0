import type { ConsumerNews, JobEvent, StoreListener } from '@crossgear/core-scheduler'
import { unpack } from '../scripts/packed.ts'

const laneEvent = /^(create|start|finish):(\d+)$/

/** `create:7`, as GearMonkey has it. */
export function happened(listener: StoreListener, lane: string, message: string): void {
  const [, kind, id] = laneEvent.exec(message) ?? []
  if (kind === 'create') listener.created(lane, Number(id))
  else if (kind === 'start') listener.started(lane, Number(id))
  else if (kind === 'finish') listener.finished(lane, Number(id))
}

const plainNews = ['quiet', 'terminate', 'alive', 'back', 'gone'] as const

/** One of these words, or `settled NUL jid`. */
function newsOf(word: string | undefined, rest: readonly string[]): ConsumerNews | undefined {
  if (word === 'settled') return { settled: rest.join('\0') }
  return plainNews.find((known) => known === word)
}

/** `kind NUL lane NUL figure`; for news of a worker its wid and the news. */
export function announced(listener: StoreListener, message: string): void {
  const [kind, lane, figure, ...rest] = message.split('\0')
  if (lane === undefined) return
  if (kind === 'lane') listener.laneAdded(lane, Number(figure))
  else if (kind === 'unlane') listener.laneDropped(lane, Number(figure))
  else if (kind === 'closed') listener.laneClosed(lane)
  else if (kind === 'pauses') listener.pausesChanged()
  else if (kind === 'worker') {
    const news = newsOf(figure, rest)
    if (news) listener.consumerNews(lane, news)
  } else if (kind === 'wake') listener.woken(lane, Number(figure))
  else if (kind === 'room') listener.roomMade(lane, Number(figure))
}

/**
 * `kind NUL lane NUL id NUL data`, as `relay` in lua/lib/jobs.lua writes it; for many jobs of a lane `complete NUL` and a
 * packed list: the lane, and ids with outputs. A node asks and answers with its own name and a number in their place.
 */
export function relayed(listener: StoreListener, message: Buffer): void {
  const kindEnd = message.indexOf(0)
  if (message.toString('latin1', 0, kindEnd) === 'complete') {
    completed(listener, message.subarray(kindEnd + 1))
    return
  }
  const laneEnd = message.indexOf(0, kindEnd + 1)
  const idEnd = message.indexOf(0, laneEnd + 1)
  if (kindEnd < 0 || laneEnd < 0 || idEnd < 0) return
  const kind = message.toString('latin1', 0, kindEnd)
  const lane = message.toString('utf8', kindEnd + 1, laneEnd)
  const id = Number(message.toString('latin1', laneEnd + 1, idEnd))
  const data = message.subarray(idEnd + 1)
  if (kind === 'ask') listener.asked(lane, id, data.toString())
  else if (kind === 'answer') listener.answered(lane, id, data.toString())
  const ref = { lane, id }
  const event = relayedEvent(kind, data)
  if (event) listener.relayed(ref, event)
}

/** Takes `complete`; a message in another form was not published by a gateway. */
function completed(listener: StoreListener, packed: Buffer): void {
  const { lane, ends } = completedJobs(packed)
  for (let at = 0; at < ends.length; at += 2) {
    const output = ends[at + 1]
    if (!Buffer.isBuffer(output)) return
    listener.relayed({ lane, id: Number(ends[at]) }, { kind: 'complete', output })
  }
}

/** Ids and outputs by turns. */
function completedJobs(packed: Buffer): {
  readonly lane: string
  readonly ends: readonly unknown[]
} {
  try {
    const [lane, ends] = unpack(packed) as readonly unknown[]
    return { lane: String(lane), ends: Array.isArray(ends) ? ends : [] }
  } catch {
    return { lane: '', ends: [] }
  }
}

function relayedEvent(kind: string, data: Buffer): JobEvent | 'finish' | undefined {
  switch (kind) {
    case 'finish':
      return 'finish'
    case 'data':
    case 'warning':
      return { kind, data }
    case 'status': {
      const split = data.indexOf(0)
      return { kind, dividend: data.subarray(0, split), divisor: data.subarray(split + 1) }
    }
    default:
      return undefined
  }
}

/** New jobs that steps of other nodes left in line: `lane NUL jobs NUL node`. */
export function newsCame(listener: StoreListener, message: string, ownNode: string): void {
  const [lane, jobs, node] = message.split('\0')
  if (lane !== undefined && node !== ownNode) listener.woken(lane, Number(jobs))
}
