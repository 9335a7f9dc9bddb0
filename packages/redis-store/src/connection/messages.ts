import type { ConsumerNews, JobEvent, StoreListener } from '@crossgear/core-scheduler'
import { unpack } from '../scripts/packed.ts'
import { fieldsOf, wholeOf } from './frames.ts'

const laneEvent = /^(create|start|finish):(\d+)$/

/** `create:7`, as GearMonkey has it. */
export function happened(listener: StoreListener, lane: string, message: string): void {
  const [, kind, text] = laneEvent.exec(message) ?? []
  const id = wholeOf(text)
  if (id === undefined) return
  if (kind === 'create') listener.created(lane, id)
  else if (kind === 'start') listener.started(lane, id)
  else if (kind === 'finish') listener.finished(lane, id)
}

const plainNews = ['quiet', 'terminate', 'alive', 'back', 'gone'] as const

/** The news of a message: one of these words, or `settled` and a jid. */
function newsOf(word: string | undefined, jid: string | undefined): ConsumerNews | undefined {
  if (word === 'settled') return jid === undefined ? undefined : { settled: jid }
  return plainNews.find((known) => known === word)
}

type Announce = (listener: StoreListener, name: string, figure: number) => void

/** Messages of a name and a number, by their kind. */
const withFigures: ReadonlyMap<string | undefined, Announce> = new Map<string, Announce>([
  ['lane', (listener, lane, number) => listener.laneAdded(lane, number)],
  ['unlane', (listener, lane, number) => listener.laneDropped(lane, number)],
  ['wake', (listener, lane, jobs) => listener.woken(lane, jobs)],
  ['room', (listener, lane, jobs) => listener.roomMade(lane, jobs)],
])

/** A kind, a lane and a number; for news of a worker its wid and the news. */
export function announced(listener: StoreListener, message: Buffer): void {
  const fields = fieldsOf(message)
  const [kind, name, figure, jid] = fields
  const announce = withFigures.get(kind)
  if (name === undefined) return
  if (announce) {
    const number = fields.length === 3 ? wholeOf(figure) : undefined
    if (number !== undefined) announce(listener, name, number)
  } else if (kind === 'closed' && fields.length === 2) listener.laneClosed(name)
  else if (kind === 'pauses') listener.pausesChanged()
  else if (kind === 'worker' && fields.length <= 4) {
    const news = newsOf(figure, jid)
    if (news) listener.consumerNews(name, news)
  }
}

/**
 * `event NUL` and a packed list of kind, lane, id and data, as `relay` in lua/lib/jobs.lua writes it; for many jobs of a
 * lane `complete NUL` and a packed list: the lane, and ids with outputs. A node asks and answers with its own name and a
 * number in their place. A node of a former version writes `kind NUL lane NUL id NUL data`.
 */
export function relayed(listener: StoreListener, message: Buffer): void {
  const kindEnd = message.indexOf(0)
  const kind = message.toString('latin1', 0, Math.max(0, kindEnd))
  const rest = message.subarray(kindEnd + 1)
  if (kind === 'complete') completed(listener, rest)
  else if (kind === 'event') {
    const [of, lane, id, data] = listIn(rest)
    if (Buffer.isBuffer(data)) relayedOne(listener, String(of), String(lane), String(id), data)
  } else {
    const laneEnd = rest.indexOf(0)
    const idEnd = rest.indexOf(0, laneEnd + 1)
    if (kindEnd < 0 || laneEnd < 0 || idEnd < 0) return
    const id = rest.toString('latin1', laneEnd + 1, idEnd)
    relayedOne(listener, kind, rest.toString('utf8', 0, laneEnd), id, rest.subarray(idEnd + 1))
  }
}

function relayedOne(
  listener: StoreListener,
  kind: string,
  lane: string,
  number: string,
  data: Buffer,
): void {
  const id = wholeOf(number)
  if (id === undefined) return
  if (kind === 'ask') listener.asked(lane, id, data.toString())
  else if (kind === 'answer') listener.answered(lane, id, data.toString())
  const event = relayedEvent(kind, data)
  if (event) listener.relayed({ lane, id }, event)
}

/** Takes `complete`; a message in another form was not published by a gateway. */
function completed(listener: StoreListener, packed: Buffer): void {
  const [lane, ends] = listIn(packed)
  if (!Buffer.isBuffer(lane) || !Array.isArray(ends)) return
  for (let at = 0; at < ends.length; at += 2) {
    const id = wholeOf(String(ends[at]))
    const output = ends[at + 1] as unknown
    if (id === undefined || !Buffer.isBuffer(output)) return
    listener.relayed({ lane: lane.toString(), id }, { kind: 'complete', output })
  }
}

/** A packed list; empty where it is none. */
function listIn(packed: Buffer): readonly unknown[] {
  try {
    const list = unpack(packed)
    return Array.isArray(list) ? list : []
  } catch {
    return []
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

/** New jobs that steps of other nodes left in line: a lane, jobs and the node. */
export function newsCame(listener: StoreListener, message: Buffer, ownNode: string): void {
  const fields = fieldsOf(message)
  const [lane, figure, node] = fields
  const jobs = fields.length === 3 ? wholeOf(figure) : undefined
  if (lane !== undefined && jobs !== undefined && node !== ownNode) listener.woken(lane, jobs)
}
