import { pageSizes } from '../../../web/api/schemas/common.ts'
import type { functionSorts } from '../../../web/api/schemas/lanes.ts'
import type { Answer, ApiClient } from '../api-client.ts'
import type { FunctionEntry, Standing } from '../lanes/columns.ts'
import { rowsUpTo } from '../pages.ts'

/** Pages of functions that one look takes, of a thousand each, where the gateway does not sort them as they are shown. */
const maxPages = 10

/** Sorts of the table that the gateway knows, in its words: then the first page is all that anybody looks at. */
const gatewaySorts: Readonly<Record<string, (typeof functionSorts)[number]>> = {
  function: 'name',
  waiting: 'waiting',
  running: 'running',
  scheduled: 'scheduled',
  retry: 'retry',
  dead: 'dead',
  oldest: 'oldest',
  workers: 'workers',
}

/** Figures of one moment. */
export interface Look {
  readonly overview: Answer<'getOverview'>
  readonly functions: readonly FunctionEntry[]
  /** Lines that fit, also those behind the last page: one for each queue of a function. */
  readonly total: number
  /** Functions that fit, of these lines where a part of the name is asked for. */
  readonly count: number
  readonly workers: Answer<'listWorkers'>
  /** The sort by which these are the first. */
  readonly first: string
  /** When the figures of functions were taken, milliseconds of the store's clock. */
  readonly atMs: number
}

/** `shown`: of many functions, only the first in this order are asked for. */
export async function takeLook(
  client: ApiClient,
  contains: string,
  shown?: { readonly sort: string; readonly isReversed: boolean },
): Promise<Look> {
  const sort = shown && gatewaySorts[shown.sort]
  const order = (sort === 'name') === shown?.isReversed ? 'desc' : 'asc'
  const ordered = sort && ({ sort, order } as const)
  const [overview, workers, listed] = await Promise.all([
    client.call('getOverview'),
    client.call('listWorkers', { query: { limit: 1 } }),
    rowsUpTo(
      (ordered ? 1 : maxPages) * pageSizes.max,
      pageSizes.max,
      (query) =>
        client.call('listFunctions', {
          query: { ...query, ...ordered, ...(contains !== '' && { contains }) },
        }),
      (page) => page.functions,
    ),
  ])
  const { rows: functions, first } = listed
  return {
    overview,
    workers,
    total: first.total,
    first: sort ?? 'name',
    functions,
    count:
      contains === '' ? overview.functions : new Set(functions.map((entry) => entry.function)).size,
    atMs: Date.parse(first.at),
  }
}

/** One line of the table. */
export interface TopRow
  extends
    Standing,
    Pick<
      FunctionEntry,
      'function' | 'queue' | 'workers' | 'is_paused' | 'is_function_paused' | 'waits_for'
    > {
  /** Jobs done a second. */
  readonly rate: number
  readonly by_door: Readonly<Record<string, { readonly idle: number; readonly busy: number }>>
}

/** Turns looks into rows, with the rates between them. */
export class Rates {
  /** By lane: when it was counted, how many were done, and the rate up to then. */
  #before = new Map<string, Counted>()
  #whole: Counted | undefined

  /** Of the whole store, whatever functions are looked at. */
  get whole(): number {
    return this.#whole?.rate ?? 0
  }

  rowsOf({ functions, workers, atMs, overview }: Look): readonly TopRow[] {
    this.#whole = rated(this.#whole, Date.parse(overview.at), overview.completed_total)
    const hands = handsOf(workers)
    const counted = new Map<string, Counted>()
    const rows = functions.map((entry): TopRow => {
      const { lane, queue, completed_total: done } = entry
      const now = rated(this.#before.get(lane), atMs, done)
      counted.set(lane, now)
      const { waiting, running, scheduled, retry, dead, oldest_waiting_seconds } = entry
      return {
        function: entry.function,
        queue,
        waiting,
        running,
        rate: now.rate,
        oldest_waiting_seconds,
        scheduled,
        retry,
        dead,
        workers: entry.workers,
        by_door: hands(entry),
        is_paused: entry.is_paused,
        is_function_paused: entry.is_function_paused,
        waits_for: entry.waits_for,
      }
    })
    this.#before = counted
    return rows
  }
}

/** Several looks may be at one count of the store. */
function rated(before: Counted | undefined, atMs: number, done: number): Counted {
  if (!before) return { atMs, done, rate: 0 }
  if (atMs <= before.atMs) return before
  return { atMs, done, rate: (Math.max(0, done - before.done) * 1000) / (atMs - before.atMs) }
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
