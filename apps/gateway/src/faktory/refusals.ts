import type { NewJob, Submitted } from '@crossgear/core-scheduler'

/** Why a pushed job was not taken: the first word of the error, and its text. */
export interface Refusal {
  readonly kind: 'ERR' | 'NOTUNIQUE'
  readonly text: string
}

type Refused = Exclude<Submitted['kind'], 'created' | 'joined'>

const refusals: Readonly<Record<Refused, (job: NewJob) => Refusal>> = {
  full: () => ({ kind: 'ERR', text: 'the queue of this job type is full' }),
  locked: () => ({ kind: 'NOTUNIQUE', text: 'Job not unique' }),
  ticked: () => ({ kind: 'ERR', text: 'the tick has its job' }),
  unbatched: ({ batch = '' }) => ({ kind: 'ERR', text: noSuchBatch(batch) }),
}

/** Undefined for a job that was taken. */
export function refusalOf(result: Submitted, job: NewJob): Refusal | undefined {
  return 'id' in result ? undefined : refusals[result.kind](job)
}

/** How PUSHB names a refusal. */
export function shown({ kind, text }: Refusal): string {
  return kind === 'ERR' ? text : `${kind} ${text}`
}

export function noSuchBatch(bid: string): string {
  return `No such batch ${bid}`
}
