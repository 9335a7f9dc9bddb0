import type { Act } from '../../doors/net/act.ts'
import type { Identity } from './access.ts'
import type { ApiAnswer, ApiErrorCode } from './api-error.ts'
import type { ApiInput } from './api.ts'
import { pieceOf } from './acts/act-piece.ts'

/** Letters of a call that the audit has. */
const longestTarget = 1_000

/** Parts of a call that are not noted: what a job holds, where a list goes on, and names that are for the caller alone. */
const leftOut: ReadonlySet<string> = new Set([
  'payload',
  'cursor',
  'limit',
  'dry_run',
  'undo',
  'after',
])

/** The job that a cron entry pushes is left out, the name of a job is not. */
function isNoted([name, value]: readonly [string, unknown]): boolean {
  return !leftOut.has(name) && !(name === 'job' && typeof value === 'object')
}

/** The name of a client, or whose password it has. */
export function whoIs({ name, role }: Pick<Identity, 'name' | 'role'>): string | undefined {
  return name ?? (role === 'admin' ? 'operator' : role)
}

interface ActAnswer {
  readonly dry_run?: boolean
  readonly done?: number
  readonly restored?: number
  readonly job?: string
  readonly cursor?: string | null
  readonly act?: string | null
  readonly undo?: string | null
  readonly no_undo?: string | null
  readonly error?: { readonly code: ApiErrorCode }
}

/** The act of a call; undefined where it changed nothing. One that failed at the gateway may have been done in part. */
export function actOfCall(
  operation: string,
  identity: Identity,
  { params, body }: Pick<ApiInput, 'params' | 'body'>,
  { status, body: answer }: ApiAnswer,
): Act | undefined {
  const { dry_run: isDry, done, restored, job, undo, no_undo: noUndo } = answer as ActAnswer
  const { cursor, error } = answer as ActAnswer
  if (isDry === true || (status >= 300 && status < 500)) return undefined
  const words = Object.entries({ ...(params as object), ...(body as object) })
  const named = Object.fromEntries(words.filter(isNoted))
  const jobs = done ?? restored ?? (job === undefined ? undefined : 1)
  const who = whoIs(identity)
  const asked = (body ?? {}) as { readonly cursor?: string; readonly after?: string }
  const piece = pieceOf(cursor ?? undefined) ?? pieceOf(asked.cursor)
  const act = asked.after ?? piece?.name ?? (answer as ActAnswer).act ?? undefined
  return {
    door: 'web',
    address: identity.address,
    operation,
    target: JSON.stringify(named).slice(0, longestTarget),
    ...(who !== undefined && { who }),
    ...(jobs !== undefined && { jobs }),
    ...(act !== undefined && { act }),
    ...(error && { fault: error.code }),
    ...(typeof undo === 'string' && { undo }),
    ...(typeof noUndo === 'string' && { noUndo }),
  }
}
