import type { Source } from '../source.ts'

/** Other programs that use a source. */
export interface Others {
  readonly count: number
  /** Why there may be more, if that is unknown. */
  readonly unseen?: string
}

type Reasons = Pick<Source, 'liveReason' | 'unseenReason'>

/** Why a source should not be read now. `who`: these programs, and what they use. */
export function reasonsOf({ count, unseen }: Others, who: string): Reasons {
  return {
    ...(count > 0 && { liveReason: who }),
    ...(count === 0 && unseen !== undefined && { unseenReason: unseen }),
  }
}
