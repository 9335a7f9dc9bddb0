/** The part of the store for jobs pushed by the clock. */
export interface CronStore {
  /** Entries added by hand: name to text. */
  entries(): Promise<ReadonlyMap<string, string>>
  save(name: string, text: string): Promise<void>
  /** False if there is no such entry. */
  remove(name: string): Promise<boolean>
  /** The last tick of an entry that put a job into the lane, milliseconds since 1970. */
  lastTick(lane: string, entry: string): Promise<number | undefined>
}
