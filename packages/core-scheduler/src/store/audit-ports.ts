/** Bounds of the audit. */
export const auditBounds = {
  /** Entries; the server drops them in blocks, so a few more may stand. */
  entries: 10_000,
  entryBytes: 2_048,
  /** How long an act waits for its next piece, milliseconds. */
  pieceMs: 3_600_000,
  /** How long the records of deleted jobs are kept, milliseconds. */
  keptMs: 24 * 3_600_000,
  /** Acts, or pieces of them, whose records are kept at a time. */
  keptActs: 200,
  /** Bytes of the records of one act or piece, and of all together. */
  actBytes: 4 * 1024 * 1024,
  keptBytes: 64 * 1024 * 1024,
} as const

/** One entry of the audit. */
export interface AuditEntry {
  /** `<milliseconds>-<number>`: later entries have greater ones. */
  readonly id: string
  readonly text: string
}

/** Records of deleted jobs; undone: they were put back. */
export type KeptRecords =
  | { readonly kind: 'kept'; readonly records: readonly string[] }
  | { readonly kind: 'undone' | 'none' }

/** The part of the store that knows who did what. */
export interface AuditStore {
  /** Adds an entry of at most {@link auditBounds.entryBytes}; the oldest go. Returns its id. */
  add(text: string): Promise<string>
  /**
   * Adds what a piece of an act did to the entry of the act, which `textOf` makes from that of the pieces before. Returns its id;
   * undefined, and nothing is added, where `textOf` gives none.
   */
  addPiece(
    act: string,
    textOf: (before?: AuditEntry) => string | undefined,
  ): Promise<string | undefined>
  /** Up to `count` entries by time, `desc`: the newest first; `after`: only those that follow that entry in this order. */
  list(count: number, after?: string, order?: 'asc' | 'desc'): Promise<readonly AuditEntry[]>
  /** One entry by its id. */
  find(id: string): Promise<AuditEntry | undefined>
  /** Keeps records of an act for a day. False, and nothing is kept, where a bound is reached. */
  keep(act: string, records: readonly string[]): Promise<boolean>
  kept(act: string): Promise<KeptRecords>
  /** The kinds of {@link kept} of some acts. */
  keptKinds(acts: readonly string[]): Promise<readonly KeptRecords['kind'][]>
  /** The records were put back: they go, and that is known for a day. */
  undone(act: string): Promise<void>
  /** 32 random bytes, made once: all nodes sign sessions with them. */
  sessionKey(): Promise<Buffer>
}
