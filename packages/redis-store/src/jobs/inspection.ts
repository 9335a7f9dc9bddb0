import {
  searchedBytes,
  type InspectStore,
  type JobSet,
  type PlacedJob,
  type PlacePage,
  type PlaceRequest,
  type LaneAnswer,
  type LaneOpenness,
  type LaneQuestion,
  type PayloadStart,
  type StartRequest,
  startedBytes,
  type LimitAnswer,
  type ServerReport,
  type SetPage,
  type Standing,
  type Throttle,
  type TimedJob,
  type TimedRequest,
  type WaitingAnswer,
} from '@crossgear/core-scheduler'
import { ContextPart } from '../connection/context-part.ts'
import { reportOf } from '../connection/server-report.ts'
import { chunks } from '../chunks.ts'
import { dueOf, jobIdOf, timeOf as instantIn } from './job-fields.ts'

type PageReply = [seen: number, unsearched: number, more: number, ...(Buffer | number)[]]
type StandingReply =
  | [place: Buffer, score: Buffer, inputBytes: number, outputBytes: number]
  | readonly []

/** The steps of the store port by which an operator inspects jobs. */
export class RedisInspection extends ContextPart implements InspectStore {
  async page({ lane, place, from, count, text }: PlaceRequest): Promise<PlacePage> {
    const { run, keys } = this.context
    const needle = text ? Buffer.from(text) : ''
    const args = [lane, place, from, count, needle, searchedBytes]
    const reply = (await run('job-page', [keys.busy(lane)], args)) as PageReply
    const [seen, unsearched, more, ...words] = reply
    const jobs: PlacedJob[] = []
    for (let at = 0; at + 2 < words.length; at += 3) {
      const score = String(words[at + 2])
      const id = jobIdOf(words[at] as Buffer)
      if (id === undefined) continue
      jobs.push({ id, offset: Number(words[at + 1]), ...timeOf(place, score) })
    }
    return { jobs, seen, unsearched, more: more === 1 }
  }

  async setIds(lane: string, set: JobSet, from: number, count: number): Promise<SetPage> {
    const { run, keys } = this.context
    const reply = await run('set-ids', [keys.busy(lane)], [lane, set, from, count])
    const [seen, ...members] = reply as [number, ...Buffer[]]
    const numbers = members.map((member) => Number(member.toString()))
    const every = (second: 0 | 1) => numbers.filter((_, at) => at % 2 === second)
    return { seen, ids: every(0), times: every(1) }
  }

  async timed({ set, order, lanes, perLane, after }: TimedRequest): Promise<readonly TimedJob[]> {
    const { run, keys, perLanes } = this.context
    const unitMs = set === 'scheduled' ? 1000 : 1
    const last = after ? [after.atMs / unitMs, after.lane, after.id] : ['', '', '']
    const replies = await perLanes(lanes, async (some, first) => {
      const words = some.flatMap((lane) => [lane, after?.isPast(lane) ? 'past' : 'ahead'])
      const args = [set, order, perLane, ...last, ...words]
      return (await run('timed-jobs', [keys.busy(first)], args)) as Buffer[][]
    })
    return replies.flatMap((words, at) =>
      [...chunks(words.map(String), 2)].map(([id, time]) => {
        const atMs = set === 'scheduled' ? dueOf(time ?? '') : Number(time)
        return { lane: lanes[at] ?? '', id: Number(id), atMs }
      }),
    )
  }

  async failures(lane: string, ids: readonly number[]): Promise<readonly (string | undefined)[]> {
    const { pipeline, keys } = this.context
    if (ids.length === 0) return []
    const records = await pipeline((commands) => {
      for (const id of ids) commands.hget(keys.job(lane, id), 'failure')
    })
    return records.map((record) => (typeof record === 'string' ? record : undefined))
  }

  async standing(lane: string, id: number): Promise<Standing | undefined> {
    const { run, keys } = this.context
    const reply = (await run('standing', [keys.busy(lane)], [lane, id])) as StandingReply
    if (reply.length === 0) return undefined
    const [word, score, inputBytes, outputBytes] = reply
    const place = String(word) as Standing['place']
    return { place, inputBytes, outputBytes, ...timeOf(place, String(score)) }
  }

  waits(questions: readonly LaneQuestion[]): Promise<readonly LaneAnswer[]> {
    const { run, keys, perLanes, isAutoOpen, graceMs } = this.context
    const idsOf = new Map(questions.map(({ lane, ids }) => [lane, ids]))
    return perLanes([...idsOf.keys()], async (some, first) => {
      const words = some.flatMap((lane) => {
        const ids = idsOf.get(lane) ?? []
        return [lane, ids.length, ...ids]
      })
      const reply = await run('lane-waits', [keys.meta(first)], [isAutoOpen ? '1' : '0', ...words])
      return (reply as WaitsReply[]).map((lane) => answerOf(lane, graceMs))
    })
  }

  async payloadStarts(
    lane: string,
    ids: readonly number[],
    { part = 'input', bytes, longest = startedBytes }: StartRequest,
  ): Promise<readonly PayloadStart[]> {
    const { run, keys } = this.context
    const budget = Math.max(startsBudget, longest)
    const args = [lane, bytes, longest, budget, part, ...ids]
    const reply = await run('payload-starts', [keys.busy(lane)], args)
    return (reply as [number, Buffer][]).map(([length, start]) => ({
      bytes: length,
      ...((start.length > 0 || length === 0) && { start }),
    }))
  }

  limits(
    limits: readonly (readonly [name: string, limit: Throttle])[],
    nowMs: number,
  ): Promise<readonly LimitAnswer[]> {
    const { redis, keys, call } = this.context
    return Promise.all(
      limits.map(async ([name, { rate }]) => {
        const [running, start] = await Promise.all([
          call(() => redis.zcard(keys.slots(name))),
          rate && call(() => redis.lindex(keys.rate(name), rate.jobs - 1)),
        ])
        const nextAtMs = rate && start ? Number(start) + rate.perMs : 0
        return { running, ...(nextAtMs > nowMs && { nextAtMs }) }
      }),
    )
  }

  async servers(): Promise<readonly ServerReport[]> {
    const { context } = this
    const reports = await context.call(() => Promise.all(context.masters().map(reportOf)))
    return reports.filter((report) => report !== undefined)
  }

  async vanishedWith(tokens: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (tokens.length === 0) return new Map()
    const { run, keys } = this.context
    const args = [vanishedWorkers, ...tokens]
    const reply = (await run('vanished', [keys.holders], args)) as Buffer[]
    return new Map(
      [...chunks(reply.map(String), 2)].map(([token = '', sinceMs]) => [token, Number(sinceMs)]),
    )
  }
}

type WaitsReply = [
  openness: Buffer,
  named: number,
  consumers: number,
  workers: number,
  closed: Buffer,
  next: Buffer,
  ...jobs: (Buffer | number)[],
]

/** Figures that the script has of each job. */
const perJob = 5

/** Bytes of payloads that one call reads for their starts, under a millisecond of the server's time. */
const startsBudget = 1024 * 1024

/** Faktory workers that have vanished at a time, of which a look knows. */
const vanishedWorkers = 100

function answerOf(reply: WaitsReply, graceMs: number): LaneAnswer {
  const [openness, namedWorkers, consumers, workers, closed, next, ...words] = reply
  const [closedMs, nextId] = [Number(closed), jobIdOf(next)]
  return {
    openness: String(openness) as LaneOpenness['state'],
    namedWorkers,
    consumers,
    workers,
    ...(closedMs > graceMs && { workerSeenMs: closedMs - graceMs }),
    ...(nextId !== undefined && { nextId }),
    jobs: [...chunks(words, perJob)].map((fields) => waitingOf(fields)),
  }
}

function waitingOf([stale, isInTurns, value, waiting, due]: readonly unknown[]): WaitingAnswer {
  const staleAtMs = instantIn(stale as Buffer) ?? 0
  const dueMs = Number(String(due))
  const [queued = 0, running = 0] = waiting as readonly number[]
  return {
    ...(staleAtMs > 0 && { staleAtMs }),
    ...(isInTurns === 1 && {
      turn: { value: String(value), waiting: queued, running, ...(dueMs > 0 && { dueMs }) },
    }),
  }
}

/** Deadlines from here on stand for a worker that keeps its job while it is connected. */
const connectedMs = 8e15

/** The time that a score says: of a scheduled job seconds, of others milliseconds. */
function timeOf(place: string, score: string): { readonly atMs?: number } {
  if (score === '') return {}
  const atMs = Math.round(Number(score) * (place === 'scheduled' ? 1000 : 1))
  return atMs < connectedMs ? { atMs } : {}
}
