import type { FaultKind, Plan } from '../world/plan.ts'
import type { OrdersSeen } from './orders.ts'
import type { Played } from './play.ts'
import type { Shrunk } from './shrink.ts'

/** A task of one player. */
export type Task =
  | { readonly kind: 'play'; readonly plan: Plan; readonly tells: boolean }
  | { readonly kind: 'shrink'; readonly plan: Plan; readonly problems: readonly string[] }
  | { readonly kind: 'orders'; readonly fault: FaultKind; readonly forMs: number }

interface Answers {
  play: Played
  shrink: Shrunk & { readonly story: readonly string[] }
  orders: OrdersSeen
}

export type AnswerTo<Kind extends Task['kind']> = Answers[Kind]

/** A player's message: what it has so far, or its answer. */
export interface Message {
  readonly isLast: boolean
  readonly answer: unknown
}
