/** A worker of one door, with several jobs at once. */
export interface PeerWorker {
  start(): void
  /** Ends running jobs, reports them and leaves. */
  stop(): Promise<void>
}
