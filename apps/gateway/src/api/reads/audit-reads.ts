import type { AuditEntry, Scheduler } from '@crossgear/core-scheduler'
import { actOf } from '../../ops/audit/audit-trail.ts'
import type { Handlers } from '../api.ts'
import { auditPage } from '../schemas/audit.ts'
import { isoTime } from '../schemas/common.ts'
import type { HandlerParts } from '../handler-parts.ts'

/** Entries that one call looks at. */
const lookedAt = 2_000
const perStep = 500

/** Reads who did what. */
export function auditReads({ scheduler }: HandlerParts) {
  const { audit } = scheduler
  return {
    async listAudit({ query }) {
      const { who, since_seconds: since = Infinity, limit = auditPage.usual } = query
      const fromMs = scheduler.storeNowMs() - since * 1000
      const found: AuditEntry[] = []
      let { cursor } = query
      let isOver = false
      for (let left = lookedAt; left > 0 && found.length < limit && !isOver;) {
        const count = Math.min(left, perStep)
        const some = await audit.list(count, cursor)
        left -= some.length
        isOver = some.length < count
        for (const [at, entry] of some.entries()) {
          if (timeOf(entry) < fromMs) {
            isOver = true
            break
          }
          cursor = entry.id
          if (who === undefined || actOf(entry)?.who === who) found.push(entry)
          if (found.length < limit) continue
          isOver &&= at === some.length - 1
          break
        }
      }
      return { entries: await shown(audit, found), cursor: isOver ? null : (cursor ?? null) }
    },
  } satisfies Partial<Handlers>
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
    ...{ entry: entry.id, at: isoTime(timeOf(entry)), who: act.who ?? null },
    ...{ door: act.door, address: act.address, node: act.node, operation: act.operation },
    ...{ target: act.target, jobs: act.jobs ?? null, fault: act.fault ?? null },
    undo: act.undo === undefined ? ('no' as const) : states[kindOf.get(act.undo) ?? 'none'],
    no_undo: act.noUndo ?? null,
  }))
}

function timeOf({ id }: AuditEntry): number {
  return Number(id.split('-')[0])
}
