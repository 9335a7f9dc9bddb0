/** Counts of a mirror, in the form of `--json`. */
export interface MirrorCounts {
  /** Jobs of mirrored functions. */
  seen: number
  /** Of these, sent to the other side. */
  copied: number
  /** Not copied: too many copies in progress, or the other side was too slow. */
  skipped: number
  /** Not copied: the job was gone before it was read from the store. */
  missed: number
  /** Not copied: longer than --max-payload-bytes. */
  tooLong: number
  /** Copies that the other side refused. */
  refused: number
  /** Accepted background copies: there are no results to compare. */
  background: number
  /** Foreground jobs with equal results. */
  equal: number
  different: number
  /** No result from one side in time, or a client or the other side left. */
  unanswered: number
  /** Unreadable connections: passed on all the same. */
  unread: number
}

export function noCounts(): MirrorCounts {
  return {
    seen: 0,
    copied: 0,
    skipped: 0,
    missed: 0,
    tooLong: 0,
    refused: 0,
    background: 0,
    equal: 0,
    different: 0,
    unanswered: 0,
    unread: 0,
  }
}
