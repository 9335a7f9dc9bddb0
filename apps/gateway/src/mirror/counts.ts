/** Counts of a mirror, as `--json` writes them. */
export interface MirrorCounts {
  /** Jobs of the functions that are mirrored. */
  seen: number
  /** Of these: sent to the other side as well. */
  copied: number
  /** Not copied: too many copies were under way, or the other side did not keep up. */
  skipped: number
  /** Not copied: the job was over, and gone, before it was read from the store. */
  missed: number
  /** Not copied: longer than --max-payload-bytes. */
  tooLong: number
  /** Copies that the other side did not take. */
  refused: number
  /** Background copies that it took: there are no results to compare. */
  background: number
  /** Foreground jobs whose two results are equal. */
  equal: number
  different: number
  /** No result from one side in time, or the client or the other side went away before. */
  unanswered: number
  /** Connections of which nothing could be read: they pass all the same. */
  unread: number
}

export function noCounts(): MirrorCounts {
  return {
    ...{ seen: 0, copied: 0, skipped: 0, missed: 0, tooLong: 0, refused: 0 },
    ...{ background: 0, equal: 0, different: 0, unanswered: 0, unread: 0 },
  }
}
