/** The part of the store about jobs that are pushed by the clock. */
export interface CronStore {
  /** Entries that were added by hand: name to text. */
  entries(): Promise<ReadonlyMap<string, string>>
  save(name: string, text: string): Promise<void>
  /** False where there is no such entry. */
  remove(name: string): Promise<boolean>
  /** The last tick of an entry that brought a job into the lane, milliseconds since 1970. */
  lastTick(lane: string, entry: string): Promise<number | undefined>
}
