import type { Answer, ApiClient } from '../api-client.ts'
import { allPages } from '../lanes/pages.ts'
import type { FunctionEntry } from '../lanes/functions.ts'

/** Pages of functions that one look takes: the first by name, of a thousand each. */
const mostPages = 10

/** Figures of one moment. */
export interface Look {
  readonly overview: Answer<'getOverview'>
  readonly functions: readonly FunctionEntry[]
  /** Functions that fit, also those behind the last page. */
  readonly total: number
  readonly workers: Answer<'listWorkers'>
  /** When the figures of functions were taken, milliseconds of the store's clock. */
  readonly atMs: number
}

export async function takeLook(client: ApiClient, contains: string): Promise<Look> {
  const [overview, workers, pages] = await Promise.all([
    client.call('getOverview'),
    client.call('listWorkers'),
    allPages(
      (query) =>
        client.call('listFunctions', { query: { ...query, ...(contains !== '' && { contains }) } }),
      mostPages,
    ),
  ])
  const [first] = pages
  return {
    ...{ overview, workers, total: first?.total ?? 0 },
    functions: pages.flatMap((page) => page.functions),
    atMs: Date.parse(first?.at ?? overview.at),
  }
}

/** One line of the table. */
export interface TopRow {
  readonly function: string
  readonly queue: string
  readonly waiting: number
  readonly running: number
  /** Jobs done a second. */
  readonly rate: number
  readonly oldest_waiting_seconds: number
  readonly scheduled: number
  readonly retry: number
  readonly dead: number
  /** Of all gateways, native ones too. */
  readonly workers: number
  /** Of the gateway that is asked. */
  readonly by_door: Readonly<Record<string, { readonly idle: number; readonly busy: number }>>
  readonly is_paused: boolean
  readonly is_function_paused: boolean
}

/** Turns looks into rows, with the rates between them. */
export class Rates {
  /** By lane: when it was counted, how many were done, and the rate up to then. */
  #before = new Map<string, Counted>()

  rowsOf({ functions, workers, atMs }: Look): readonly TopRow[] {
    const hands = handsOf(workers)
    const counted = new Map<string, Counted>()
    const rows = functions.map((entry): TopRow => {
      const { lane, queue, completed_total: done } = entry
      const now = this.#count(lane, atMs, done)
      counted.set(lane, now)
      const { waiting, running, scheduled, retry, dead, oldest_waiting_seconds } = entry
      return {
        ...{ function: entry.function, queue, waiting, running, rate: now.rate },
        ...{ oldest_waiting_seconds, scheduled, retry, dead, workers: entry.workers },
        by_door: hands(entry),
        is_paused: entry.is_paused,
        is_function_paused: entry.is_function_paused,
      }
    })
    this.#before = counted
    return rows
  }

  /** Several looks may be at one count of the store. */
  #count(lane: string, atMs: number, done: number): Counted {
    const before = this.#before.get(lane)
    if (!before) return { atMs, done, rate: 0 }
    if (atMs <= before.atMs) return before
    return { atMs, done, rate: (Math.max(0, done - before.done) * 1000) / (atMs - before.atMs) }
  }
}

interface Counted {
  readonly atMs: number
  readonly done: number
  readonly rate: number
}

/** The workers of a line by door: by-name ones by function or lane, consumers by queue. */
function handsOf({
  functions,
  queues,
}: Look['workers']): (entry: FunctionEntry) => TopRow['by_door'] {
  const named = new Map<string, Record<string, { idle: number; busy: number }>>()
  for (const { function: fn, door, idle, busy } of functions) {
    const known = named.get(fn) ?? {}
    named.set(fn, { ...known, [door]: { idle, busy } })
  }
  const consumers = new Map(queues.map(({ queue, idle, busy }) => [queue, { idle, busy }]))
  return ({ function: fn, lane, queue, openness }) => {
    const own = consumers.get(queue)
    const isTheirs = own !== undefined && (openness === 'open' || openness === 'auto')
    return { ...named.get(fn), ...named.get(lane), ...(isTheirs && { faktory: own }) }
  }
}
