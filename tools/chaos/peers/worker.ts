/** A worker of one door, with some jobs at once. */
export interface PeerWorker {
  start(): void
  /** Ends the jobs at hand, reports them and leaves. */
  stop(): Promise<void>
}
