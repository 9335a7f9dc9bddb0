import type { WorkerState } from './workers.ts'

/**
 * What the Faktory doors of processes that share a port tell each other: the connections of one worker,
 * or of one address, may be anywhere among them.
 */
export type FaktoryNews =
  | { readonly kind: 'wrong-password'; readonly address: string }
  /** A worker lives, and may have gone on to another state. */
  | {
      readonly kind: 'beat'
      readonly wid: string
      readonly rssKb?: number
      readonly state?: WorkerState
    }

/** The way to the others. */
export interface Neighbours {
  tell(news: FaktoryNews): void
  /** Names who hears what the others tell. */
  onNews(listener: (news: FaktoryNews) => void): void
}

/** A door that has its port alone. */
export const noNeighbours: Neighbours = {
  tell: () => undefined,
  onNews: () => undefined,
}
