import { auditBounds, type AuditEntry, type AuditStore } from '@crossgear/core-scheduler'
import { oneLine } from '../../errors.ts'
import type { Act, OnAct } from '../../doors/net/act.ts'
import type { Logger } from '../../config/log/logger.ts'

/** An act as the store has it. */
export interface NotedAct extends Act {
  /** The gateway that acted. */
  readonly node: string
}

interface Parts {
  readonly store: Pick<AuditStore, 'add' | 'addPiece'>
  readonly node: string
  readonly log: Logger
}

/**
 * Notes who did what, in the store and in the log, once it is done. Never rejects: what was done is not undone because it
 * could not be noted.
 */
export function auditTrail({ store, node, log }: Parts): OnAct {
  return async (act) => {
    const { operation, door } = act
    if (door !== 'web') log.info({ ...act }, `${operation} by the ${door} port.`)
    try {
      const noted = { ...act, node }
      const entry =
        act.act === undefined
          ? undefined
          : await store.addPiece(act.act, (before) => {
              const whole = before ? joined(actOf(before), noted) : noted
              return whole && textOf(whole)
            })
      if (entry === undefined) await store.add(textOf(noted))
    } catch (error) {
      log.error({ ...act }, `The audit lacks an act (${operation}): ${oneLine(error)}.`)
    }
  }
}

/** An act with one more piece; undefined where that is of another act. */
function joined(before: NotedAct | undefined, piece: NotedAct): NotedAct | undefined {
  if (before?.who !== piece.who || !before) return undefined
  const isSame = before.operation === piece.operation && before.target === piece.target
  if (!isSame && !isDropAfter(before, piece)) return undefined
  const jobs = (before.jobs ?? 0) + (piece.jobs ?? 0)
  const noUndo = before.noUndo ?? piece.noUndo
  return { ...before, ...piece, jobs, ...(noUndo !== undefined && { noUndo }) }
}

interface Named {
  readonly filter?: { readonly queue?: string; readonly function?: string }
  readonly queues?: readonly string[]
  readonly functions?: readonly string[]
}

/** True for the drop of the one queue or function whose jobs, and no others, the act before deleted. */
function isDropAfter(before: NotedAct, drop: NotedAct): boolean {
  if (before.operation !== 'deleteJobs') return false
  const { filter } = namedIn(before)
  const { queues = [], functions = [] } = namedIn(drop)
  const { queue, function: fn = '' } = filter ?? {}
  if (drop.operation === 'dropQueues') return queues.length === 1 && queues[0] === queue
  const lane = queue === undefined ? fn : `${fn}@${queue}`
  return drop.operation === 'dropFunctions' && functions.length === 1 && functions[0] === lane
}

/** A long target is cut, and names nothing. */
function namedIn({ target }: NotedAct): Named {
  try {
    return JSON.parse(target) as Named
  } catch {
    return {}
  }
}

/** An entry of bounded size: its target is cut, if anything. */
function textOf(act: NotedAct): string {
  for (let { target } = act; ; target = `${target.slice(0, target.length >> 1)}...`) {
    const text = JSON.stringify({ ...act, target })
    if (Buffer.byteLength(text) <= auditBounds.entryBytes || target.length < 8) return text
  }
}

/** The act of an entry; undefined for what no gateway wrote. */
export function actOf({ text }: AuditEntry): NotedAct | undefined {
  try {
    const act = JSON.parse(text) as Partial<NotedAct> | null
    const isAct = typeof act?.operation === 'string' && typeof act.target === 'string'
    return isAct ? (act as NotedAct) : undefined
  } catch {
    return undefined
  }
}
