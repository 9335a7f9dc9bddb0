import type { Static } from '@sinclair/typebox'
import type { ApiBackend, ApiInput } from '../api/api.ts'
import { type ApiAnswer, refusalAnswer } from '../api/api-error.ts'
import type { OperationName } from '../api/endpoints.ts'
import { pageOf } from '../api/cursors.ts'
import { pageSizes } from '../api/schemas/common.ts'
import type { connections, workers } from '../api/schemas/fleet.ts'
import { oneLine } from '../errors.ts'
import type { GatewayProcess } from './gateway-process.ts'

type Fleet = Static<typeof workers>
type Connections = Static<typeof connections>
type PageQuery = Parameters<typeof pageOf>[1]

/** The API as the parent of several processes answers it: with the help of one, or of all where each knows a part. */
export class SharedApi implements ApiBackend {
  readonly #processes: () => readonly GatewayProcess[]

  constructor(processes: () => readonly GatewayProcess[]) {
    this.#processes = processes
  }

  async call(name: OperationName, input: ApiInput): Promise<ApiAnswer> {
    const serving = this.#processes().filter(({ serves }) => serves)
    const [first] = serving
    if (!first) return refusalAnswer('not_running', 'no process runs at the moment')
    try {
      const join = joins[name]
      if (join) {
        const all = { ...input, query: join.query(input.query) }
        const answers = await Promise.all(
          serving.map((process) => process.ask(undefined, 'api', name, all)),
        )
        const refusal = answers.find(({ status }) => status !== 200)
        return refusal ?? { status: 200, body: join.answer(answers, input.query) }
      }
      return await first.ask(undefined, 'api', name, input)
    } catch (error) {
      return refusalAnswer('not_running', oneLine(error))
    }
  }
}

interface Join {
  /** The query for each process. */
  readonly query: (query: unknown) => unknown
  readonly answer: (answers: readonly ApiAnswer[], query: unknown) => unknown
}

/** Operations of which each process knows a part. */
const joins: Readonly<Partial<Record<OperationName, Join>>> = {
  listWorkers: { query: (query) => query, answer: (answers) => fleetOf(answers) },
  listConnections: {
    // As many as one page may have, of which the page that was asked for is cut.
    query: () => ({ limit: pageSizes.most }),
    answer: (answers, query) => {
      const all = answers.map(({ body }) => body as Connections)
      const { page, ...rest } = pageOf(
        all.flatMap(({ connections: some }) => some),
        query as PageQuery,
      )
      return { connections: page, ...rest, total: sum(all.map(({ total }) => total)) }
    },
  },
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Adds up the processes' figures about their workers. */
function fleetOf(answers: readonly ApiAnswer[]): Fleet {
  const all = answers.map(({ body }) => body as Fleet)
  const body: Fleet = {
    doors: added(
      all.flatMap(({ doors }) => doors),
      ({ door }) => door,
    ),
    functions: added(
      all.flatMap(({ functions }) => functions),
      (entry) => `${entry.door} ${entry.function}`,
    ),
    queues: added(
      all.flatMap(({ queues }) => queues),
      ({ queue }) => queue,
    ),
    consumers: consumersOf(all),
    consumers_total: Math.max(0, ...all.map(({ consumers_total }) => consumers_total)),
  }
  const total = Math.max(body.consumers_total, body.consumers.length)
  return { ...body, consumers_total: total }
}

/** Entries with the same key as one, whose numbers are the sums. */
function added<Entry extends Readonly<Record<string, string | number>>>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
): Entry[] {
  const sums = new Map<string, Entry>()
  for (const entry of entries) {
    const key = keyOf(entry)
    const other = sums.get(key)
    sums.set(key, other ? sumOf(other, entry) : entry)
  }
  return [...sums.values()]
}

function sumOf<Entry extends Readonly<Record<string, string | number>>>(
  one: Entry,
  other: Entry,
): Entry {
  const fields = Object.entries(one).map(([name, value]) => {
    const more = other[name]
    return [name, typeof value === 'number' && typeof more === 'number' ? value + more : value]
  })
  return Object.fromEntries(fields) as Entry
}

/** A worker has connections to any of the processes. */
function consumersOf(all: readonly Fleet[]): Fleet['consumers'] {
  const byWid = new Map<string, Fleet['consumers'][number]>()
  for (const consumer of all.flatMap(({ consumers }) => consumers)) {
    const other = byWid.get(consumer.wid)
    byWid.set(
      consumer.wid,
      other
        ? {
            ...other,
            queues: [...new Set([...other.queues, ...consumer.queues])],
            jobs: other.jobs + consumer.jobs,
            connections: other.connections + consumer.connections,
            seconds_since_beat: Math.min(other.seconds_since_beat, consumer.seconds_since_beat),
          }
        : consumer,
    )
  }
  return [...byWid.values()]
}
