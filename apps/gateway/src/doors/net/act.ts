/** An act that changed jobs or settings, for the audit. */
export interface Act {
  /** The port by which it came. */
  readonly door: string
  readonly address: string
  /** The name of a person, or the password that was given. Not known. */
  readonly who?: string
  /** An operation of the API, a verb or a text command. */
  readonly operation: string
  /** The words of the act: jobs, a filter, functions, queues. */
  readonly target: string
  /** Jobs that it changed. Not counted. */
  readonly jobs?: number
  /** Why it may have been done in part. It was done. */
  readonly fault?: string
  /** The name of an act that is done in pieces, of which this is one. It is whole. */
  readonly act?: string
  /** The records by which it can be undone. None. */
  readonly undo?: string
  /** Why it cannot be undone, though it deleted jobs. */
  readonly noUndo?: string
}

/** Settles when the act is noted; never rejects. */
export type OnAct = (act: Act) => Promise<void>

/** Notes nothing. */
export const unnoted: OnAct = () => Promise.resolve()
