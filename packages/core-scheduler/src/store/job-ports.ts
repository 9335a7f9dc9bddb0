import type {
  HeldRef,
  Job,
  JobRef,
  JobState,
  LeasedJob,
  LookExtra,
  Regained,
} from '../model/job.ts'

/** The part of the store that finds jobs, and what is left of them. */
export interface JobStore {
  /** Whole jobs with their payloads. */
  read(lane: string, ids: readonly number[]): Promise<readonly (Job | undefined)[]>
  /** Jobs without their payloads. */
  look(
    lane: string,
    ids: readonly number[],
    extras?: readonly LookExtra[],
  ): Promise<readonly (JobState | undefined)[]>
  /** Finds an unfinished job by its producer's jid, in any lane, at constant cost. */
  findJid(jid: string): Promise<JobRef | undefined>
  /** Jobs of the lanes with each unique id. Walks the lanes in short steps. */
  findUniques(
    uniques: readonly Uint8Array[],
    lanes: readonly string[],
  ): Promise<readonly (readonly JobRef[])[]>
  /**
   * Keeps the outcomes of unfinished jobs at least this long after their end, for a caller that
   * compares results. A native client's are kept as its protocol says.
   */
  keepOutcomes(lane: string, ids: readonly number[], seconds: number): Promise<void>
  /** The name of a job leads to another one for so long; no longer, where there is no other. */
  noteMove(from: JobRef, to: JobRef | undefined, keptMs: number): Promise<void>
  /** The job to which a job was moved. */
  movedTo(ref: JobRef): Promise<JobRef | undefined>
  /** One foreground client of this node, per id, stops waiting. */
  abandon(lane: string, ids: readonly number[]): Promise<void>
  /** Holds an unfinished job for the late outcome of a lease that it lost, wherever it is by now. Whoever has it loses it. */
  regain(lease: HeldRef): Promise<Regained>
  /** Expired leases, at most `max` a lane; they stand until an outcome ends them. */
  expired(lanes: readonly string[], max: number): Promise<readonly LeasedJob[]>
  /** Leases of this node, as the store knows them. */
  held(lanes: readonly string[]): Promise<readonly HeldRef[]>
}
