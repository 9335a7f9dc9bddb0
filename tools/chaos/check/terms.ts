import type { History, Run } from '../log/histories.ts'

/** First end of each job that ended, milliseconds. */
function firstEnds(runs: readonly Run[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  for (const { key, finishMs = Infinity } of runs) {
    ends.set(key, Math.min(finishMs, ends.get(key) ?? Infinity))
  }
  return ends
}

/** These keys, and the callbacks that wait for them. */
export function withCallbacks({ terms }: History, keys: Iterable<string>): Set<string> {
  const all = new Set(keys)
  // A child's callback is noted after its parent's.
  for (let before = -1; before < all.size;) {
    before = all.size
    for (const [key, { kind, names }] of terms) {
      if (kind === 'after' && names.some((name) => all.has(name))) all.add(key)
    }
  }
  return all
}

/** Promised callbacks that have not ended. */
export function owedCallbacks({ terms, acknowledged, runs }: History): number {
  const ends = firstEnds(runs)
  return [...terms].filter(
    ([key, { kind }]) =>
      kind === 'after' && acknowledged.has(key) && (ends.get(key) ?? Infinity) === Infinity,
  ).length
}

/** Callbacks that began before what they follow had ended. @param gone jobs that no callback waits for */
export function earlyCallbacks(history: History, gone: ReadonlySet<string>): string[] {
  const ends = firstEnds(history.runs)
  return history.runs.flatMap(({ key, worker, startMs }) => {
    const { kind, names } = history.terms.get(key) ?? { kind: '', names: [] }
    if (kind !== 'after') return []
    return names
      .filter((name) => !gone.has(name) && (ends.get(name) ?? Infinity) > startMs)
      .map((name) => `${key} by ${worker} before ${name} had ended`)
  })
}

/** Keys of the jobs with terms of a kind, by the term's name. */
function keysByName({ terms }: History, wanted: string): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>()
  for (const [key, { kind, names }] of terms) {
    const [name = ''] = names
    if (kind === wanted) byName.set(name, [...(byName.get(name) ?? []), key])
  }
  return byName
}

/**
 * Locks with two holders: both were accepted although neither had ended when the other was, or both ran at once.
 * A submission without an answer may hold the lock or not. @param gone jobs that the store may have lost
 */
export function sharedLocks(
  history: History,
  touched: ReadonlySet<Run>,
  gone: ReadonlySet<string>,
): string[] {
  const ends = firstEnds(history.runs)
  const { acknowledged } = history
  return [...keysByName(history, 'lock')].flatMap(([lock, keys]) => {
    const held = keys.filter((key) => acknowledged.has(key) && !gone.has(key))
    const isOverBefore = (one: string, other: string): boolean =>
      (ends.get(one) ?? Infinity) <= acknowledged.get(other)!
    const accepted = held.flatMap((one, at) =>
      held
        .slice(at + 1)
        .filter((other) => !isOverBefore(one, other) && !isOverBefore(other, one))
        .map((other) => `${lock} was given to ${one} and ${other}`),
    )
    const ran = crowded(runsOf(history, keys, touched), 1).map(
      ([run, [other]]) => `${run.key} ran by ${lock} while ${other!.key} did`,
    )
    return [...accepted, ...ran]
  })
}

/** Runs beyond the concurrency of their queue. */
export function overLimits(history: History, touched: ReadonlySet<Run>): string[] {
  return [...keysByName(history, 'limit')].flatMap(([limit, keys]) =>
    crowded(runsOf(history, keys, touched), Number(limit)).map(
      ([{ key, worker }, others]) =>
        `${key} by ${worker} beside ${others.map((other) => other.key).join(' and ')}`,
    ),
  )
}

/** Runs that had the right to their jobs until their end, in their order. */
function runsOf(
  { runs }: History,
  keys: readonly string[],
  touched: ReadonlySet<Run>,
): readonly Run[] {
  const wanted = new Set(keys)
  return runs
    .filter((run) => wanted.has(run.key) && !touched.has(run))
    .sort((a, b) => a.startMs - b.startMs)
}

/** Runs that began while so many runs of other jobs went on, and these. */
function crowded(runs: readonly Run[], limit: number): [run: Run, others: readonly Run[]][] {
  const found: [Run, readonly Run[]][] = []
  let going: Run[] = []
  for (const run of runs) {
    going = going.filter((other) => endOf(other) > run.startMs)
    const others = going.filter(({ key }) => key !== run.key)
    if (others.length >= limit) found.push([run, others])
    going.push(run)
  }
  return found
}

/** When a run ended, or its connection was lost. */
export function endOf({ finishMs = Infinity, lostMs = Infinity }: Run): number {
  return Math.min(finishMs, lostMs)
}
