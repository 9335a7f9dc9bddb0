/** One job on its way to a server. */
export interface Submission {
  readonly key: string
  readonly lane: string
  readonly priority: 'high' | 'normal' | 'low'
  readonly foreground: boolean
  /** Seconds from now; 0: at once. */
  readonly delaySeconds: number
  /** Of a Faktory job; the key alone if left out. */
  readonly args?: readonly string[]
  /** Options of a Faktory job. None. */
  readonly custom?: object
}

/** The outcome of a submission: stored, refused, or unknown. */
export type Answer = 'accepted' | 'refused' | 'unknown'

/** Receives results of jobs with waiting clients. */
export interface ResultListener {
  heard(key: string): void
  /** The waiting connection was lost. */
  waived(key: string): void
}

/** A client of one door. */
export interface Submitter {
  /** Connects if it is not connected. False: it was stopped. */
  ready(): Promise<boolean>
  /** Never throws. */
  submit(submission: Submission): Promise<Answer>
  close(): void
}
