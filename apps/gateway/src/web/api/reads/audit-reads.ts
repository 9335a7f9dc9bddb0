import type { AuditEntry, LaneRegistry, Scheduler } from '@crossgear/core-scheduler'
import { actOf, type NotedAct } from '../../../operations/audit/audit-trail.ts'
import type { Handlers } from '../api.ts'
import type { Scope } from '../scope.ts'
import { refOfApiId } from './job-names.ts'
import { cursorOf, numbersOf, pageOf } from '../cursors.ts'
import { ListOrders } from './list-orders.ts'
import { auditPage } from '../schemas/audit.ts'
import { isoTime, type SortOrder } from '../schemas/common.ts'
import type { HandlerParts } from '../handler-parts.ts'

/** Entries that one call looks at. */
const lookedAt = 2_000
const perStep = 500

const maxSequence = '18446744073709551615'

/** A look at acts by time. */
interface Asked {
  readonly wanted: (act: NotedAct | undefined) => boolean
  readonly fromMs: number
  readonly order: SortOrder
  readonly limit: number
  /** Only acts that follow this entry. */
  readonly after?: string | undefined
}

const figures = { jobs: (entry: AuditEntry) => actOf(entry)?.jobs ?? 0 }

/** Reads who did what. */
export function auditReads({ scheduler }: HandlerParts) {
  const { audit, registry } = scheduler
  /** Own acts, and those that name functions, queues and jobs that are all in the scope. */
  const isOf = (act: NotedAct | undefined, scope: Scope, own: string | undefined): boolean =>
    act !== undefined &&
    ((own !== undefined && act.who === own) || namesOwn(act.target, scope, registry))
  /** Acts by time; `last`: the entry behind which there may be more. */
  const look = async ({ wanted, fromMs, order, limit, after }: Asked) => {
    const found: AuditEntry[] = []
    // Behind all entries of the millisecond before.
    const first = `${Math.max(0, fromMs - 1)}-${maxSequence}`
    let last = after ?? (order === 'asc' ? first : undefined)
    let isOver = false
    for (let left = lookedAt; left > 0 && found.length < limit && !isOver;) {
      const count = Math.min(left, perStep)
      const some = await audit.list(count, last, order)
      left -= some.length
      isOver = some.length < count
      for (const [at, entry] of some.entries()) {
        if (timeOf(entry) < fromMs) {
          isOver = true
          break
        }
        last = entry.id
        if (wanted(actOf(entry))) found.push(entry)
        if (found.length < limit) continue
        isOver &&= at === some.length - 1
        break
      }
    }
    return { found, last: isOver ? undefined : last }
  }

  return {
    async listAudit({ query, scope, who: own }) {
      const { who, operation, since_seconds: since = Infinity, limit = auditPage.usual } = query
      const { sort = 'time', order = 'desc', cursor } = query
      const wanted = (act: NotedAct | undefined) =>
        (who ?? act?.who) === act?.who &&
        (operation ?? act?.operation) === act?.operation &&
        (!scope || isOf(act, scope, own))
      const fromMs = Math.ceil(scheduler.storeNowMs() - since * 1000)
      if (sort === 'jobs') {
        const { found: entries } = await look({ wanted, fromMs, order: 'desc', limit: lookedAt })
        const orders = new ListOrders({ entries, byName: () => 0, figures })
        const { page, cursor: next } = pageOf(await orders.get({ sort, order }), {
          ...query,
          limit,
        })
        return { entries: await shown(audit, page), cursor: next }
      }
      const after = cursor === undefined ? undefined : numbersOf(cursor, 2).join('-')
      const { found, last } = await look({ wanted, fromMs, order, limit, after })
      const next = last === undefined ? null : cursorOf(last.split('-').map(Number))
      return { entries: await shown(audit, found), cursor: next }
    },
  } satisfies Partial<Handlers>
}

/** Names in the target of an act, as calls of the API have them. */
interface Named {
  readonly function?: string
  readonly functions?: readonly string[]
  readonly queue?: string
  readonly queues?: readonly string[]
  readonly to_queue?: string
  readonly job?: string
  readonly jobs?: readonly string[]
  readonly filter?: { readonly function?: string; readonly queue?: string }
}

/** True if an act names something, and nothing outside the scope. An act whose names are unknown is not theirs. */
function namesOwn(target: string, scope: Scope, registry: LaneRegistry): boolean {
  const named = namedIn(target)
  const functions = [named.function, named.filter?.function, ...(named.functions ?? [])]
  const queues = [named.queue, named.filter?.queue, named.to_queue, ...(named.queues ?? [])]
  const jobs = [named.job, ...(named.jobs ?? [])].filter((job) => job !== undefined)
  const lanes = jobs.map((job) => refOfApiId(job, registry)?.lane)
  const verdicts = [
    ...functions.flatMap((fn) => (fn === undefined ? [] : scope.hasFunction(fn))),
    ...queues.flatMap((queue) => (queue === undefined ? [] : scope.has(queue))),
    ...lanes.map((lane) => lane !== undefined && scope.hasLane(lane)),
  ]
  return verdicts.length > 0 && verdicts.every(Boolean)
}

/** Another door notes the name of a function alone. */
function namedIn(target: string): Named {
  try {
    const named = JSON.parse(target) as unknown
    if (typeof named === 'object' && named !== null) return named
  } catch {
    // A target that was cut reads as no function of anybody's.
  }
  return { function: target }
}

async function shown(audit: Scheduler['audit'], found: readonly AuditEntry[]) {
  const noted = found.flatMap((entry) => {
    const act = actOf(entry)
    return act ? [{ entry, act }] : []
  })
  const undos = noted.flatMap(({ act }) => act.undo ?? [])
  const kinds = await audit.keptKinds(undos)
  const kindOf = new Map(undos.map((undo, at) => [undo, kinds[at]]))
  const states = { kept: 'possible', undone: 'undone', none: 'over' } as const
  return noted.map(({ entry, act }) => ({
    entry: entry.id,
    at: isoTime(timeOf(entry)),
    who: act.who ?? null,
    door: act.door,
    address: act.address,
    node: act.node,
    operation: act.operation,
    target: act.target,
    jobs: act.jobs ?? null,
    fault: act.fault ?? null,
    undo: act.undo === undefined ? ('no' as const) : states[kindOf.get(act.undo) ?? 'none'],
    no_undo: act.noUndo ?? null,
  }))
}

function timeOf({ id }: AuditEntry): number {
  return Number(id.split('-')[0])
}
