import {
  type NewJob,
  type StoreError,
  type Submitted,
  toStoreError,
} from '@crossgear/core-scheduler'
import { error } from '@crossgear/fwp-codec'
import type { Act } from '../net/act.ts'
import { refusedJobText, storeErrorText } from '../net/store-refusal.ts'
import type { Rejection } from './context.ts'
import { NotAdmitted } from './lanes.ts'
import type { Session } from './session.ts'

/**
 * Answers a rare command of several steps. It finds all commands before it done, and those after it wait for its answer.
 */
export function answerLater(session: Session, step: () => Promise<Buffer>): void {
  const slot = session.reserve()
  const answer = async (): Promise<Buffer> => {
    try {
      return await step()
    } catch (problem) {
      return storeErrorReply(session, toStoreError(problem))
    }
  }
  const goOn = session.holdCommands()
  slot.whenFirst(() => {
    void answer().then((reply) => {
      slot.fill(reply)
      goOn()
    })
  })
}

/** Notes in the audit what a command has done. */
export function noteAct(session: Session, act: Omit<Act, 'door' | 'address'>): Promise<void> {
  return session.context.acted({ ...act, door: 'faktory', address: session.address })
}

/** Answers with an error of the store, which is counted. */
export function storeErrorReply(session: Session, problem: StoreError): Buffer {
  return error(storeErrorText(problem, session.storeRefused))
}

/** The text after `-ERR ` for a job that the store did not take. */
export function pushErrorText(session: Session, problem: StoreError): string {
  return refusedJobText(problem, (refusal) => {
    // A refusal of new names from an address is counted where it is decided.
    if (!(refusal instanceof NotAdmitted)) session.storeRefused(refusal)
  })
}

/** Why a pushed job was refused: the first word of the error, and its text. */
export interface Refusal {
  readonly kind: 'ERR' | 'NOTUNIQUE'
  readonly text: string
}

type Refused = Exclude<Submitted['kind'], 'created' | 'joined'>

const refusals: Readonly<Record<Refused, (job: NewJob) => Refusal>> = {
  full: () => ({ kind: 'ERR', text: 'the queue of this job type is full' }),
  unattended: () => ({ kind: 'ERR', text: 'no worker is there for this job type' }),
  locked: () => ({ kind: 'NOTUNIQUE', text: 'Job not unique' }),
  ticked: () => ({ kind: 'ERR', text: 'the tick already has a job' }),
  unbatched: ({ batch = '' }) => ({ kind: 'ERR', text: noSuchBatch(batch) }),
}

const rejections: Readonly<Partial<Record<Submitted['kind'], Rejection>>> = {
  full: 'queue_full',
  unattended: 'no_workers',
}

/** The answer to a pushed job that was refused, counted if a limit did so; undefined for an accepted one. */
export function answerRefusal(
  session: Session,
  result: Submitted,
  job: NewJob,
): Refusal | undefined {
  const reason = rejections[result.kind]
  if (reason !== undefined) session.context.rejected(reason)
  return 'id' in result ? undefined : refusals[result.kind](job)
}

/** A refusal in the form of PUSHB. */
export function shown({ kind, text }: Refusal): string {
  return kind === 'ERR' ? text : `${kind} ${text}`
}

export function noSuchBatch(bid: string): string {
  return `No such batch ${bid}`
}
