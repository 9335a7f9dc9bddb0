import { bandOf, type Band, type Level } from '@crossgear/core-scheduler'

/** Jobs of a lane that take turns: ids as they are written. */
export interface TurnFacts {
  /** The job in line of each value; empty for none. */
  readonly holders: ReadonlyMap<string, string>
  /** Value and id of each job that waits for its turn, and of each that runs. */
  readonly waiting: readonly TurnEntry[]
  readonly running: readonly TurnEntry[]
  /** Values that wait for their rate. */
  readonly due: readonly string[]
}

export interface TurnEntry {
  readonly value: string
  readonly id: string
}

/** The store's contents for one lane. Ids as they are written. */
export interface LaneFacts {
  readonly lane: string
  /** The number of the lane in the registry. */
  readonly registered: string | undefined
  /** Some fields of each job's hash, by id. */
  readonly jobs: ReadonlyMap<string, Readonly<Record<string, string>>>
  readonly bands: Readonly<Record<Band, readonly string[]>>
  /** Jobs outside the lists of the bands, by level. */
  readonly aside: ReadonlyMap<Level, readonly string[]>
  readonly scheduledAtMs: ReadonlyMap<string, number>
  readonly turns: TurnFacts
  readonly busy: readonly string[]
  readonly dead: readonly string[]
  readonly unique: readonly string[]
  readonly jids: readonly string[]
  readonly meta: Readonly<Record<string, string>>
  readonly count: string | null
  readonly queued: number
  readonly queuedAllNative: boolean
  readonly scheduledAllNative: boolean
}

interface Leniency {
  readonly native: boolean
  readonly strays: boolean
}

/** A job's status in each place. */
const statusIn: Readonly<Record<string, string>> = {
  high: 'idle',
  normal: 'idle',
  low: 'idle',
  scheduled: 'idle',
  busy: 'busy',
  dead: 'error',
}

/** Violations in one lane. */
export function laneViolations(facts: LaneFacts, leniency: Leniency): string[] {
  return [
    ...idViolations(facts),
    ...jobViolations(facts, leniency.strays),
    ...(leniency.native ? [] : levelViolations(facts)),
    ...asideViolations(facts),
    ...countViolations(facts),
    ...turnViolations(facts, leniency.native),
    ...registryViolations(facts),
  ]
}

/** A lane with jobs of gateways is registered, under the number that it knows. */
function registryViolations(facts: LaneFacts): string[] {
  const { lane, registered, meta, jobs } = facts
  if (meta['number'] !== undefined && meta['number'] !== registered) {
    return [`${lane}: has number ${meta['number']}, and ${registered ?? 'none'} in the registry`]
  }
  const isOurs = ([, id]: [string, string]): boolean => jobs.get(id)?.['door'] !== undefined
  const hasJobs = registered === undefined && [...standings(facts)].some(isOurs)
  return hasJobs ? [`${lane}: has jobs and is not registered`] : []
}

/** Ids of a lane and their places. */
function* standings(facts: LaneFacts): Generator<[string, string]> {
  const { bands, aside, scheduledAtMs, busy, dead } = facts
  for (const [band, ids] of Object.entries(bands)) for (const id of ids) yield [band, id]
  for (const [level, ids] of aside) for (const id of ids) yield [`level ${level}`, id]
  for (const id of scheduledAtMs.keys()) yield ['scheduled', id]
  for (const id of busy) yield ['busy', id]
  for (const id of dead) yield ['dead', id]
}

/** Every entry of the index of jids names a job, and every unfinished job with a jid has an entry. */
export function jidViolations(
  lanes: readonly LaneFacts[],
  jids: ReadonlyMap<string, string>,
): string[] {
  const byLane = new Map(lanes.map((facts) => [facts.lane, facts]))
  const found: string[] = []
  for (const [jid, ref] of jids) {
    const [, id = '', lane = ''] = /^(\d+) (.*)$/s.exec(ref) ?? []
    if (byLane.get(lane)?.jobs.has(id)) continue
    found.push(`${lane}: ${id} is in the index of jids as ${jid} and has no hash`)
  }
  for (const facts of lanes) {
    for (const [, id] of standings(facts)) {
      const { jid, door } = facts.jobs.get(id) ?? {}
      // A native client has no names for its jobs.
      if (jid === undefined || door === undefined || jids.has(jid)) continue
      found.push(`${facts.lane}: ${id} is not in the index of jids as ${jid}`)
    }
  }
  return found
}

function idViolations(facts: LaneFacts): string[] {
  const { lane, jobs, unique, jids } = facts
  const found: string[] = []
  const look = (place: string, id: string): void => {
    if (!jobs.has(id)) found.push(`${lane}: ${id} is in ${place} and has no hash`)
  }
  for (const [place, id] of standings(facts)) look(place, id)
  for (const id of unique) look('the unique index', id)
  for (const id of jids) look('the jid index', id)
  return found
}

function jobViolations(facts: LaneFacts, strays: boolean): string[] {
  const { lane, jobs } = facts
  const places = new Map<string, string[]>()
  for (const [place, id] of standings(facts)) places.set(id, [...(places.get(id) ?? []), place])
  const found: string[] = []
  for (const [id, { status, door, token }] of jobs) {
    const standing = places.get(id) ?? []
    const name = `${lane}: ${status ?? 'unknown'} job ${id}`
    if (standing.length > 1) found.push(`${name} is in ${standing.join(' and ')}`)
    for (const place of standing) {
      if ((statusIn[place] ?? 'idle') !== status) found.push(`${name} is in ${place}`)
    }
    if (standing.includes('busy') && token === undefined) found.push(`${name} has no token`)
    if (standing.length > 0) continue
    if (status === 'busy' && token !== undefined) found.push(`${name} is reserved in no place`)
    if (status === 'idle' && (door !== undefined || strays)) found.push(`${name} is in no place`)
    if (status === undefined) found.push(`${name} has no status`)
  }
  return found
}

/** Level hints for unusual levels must not exceed the band. */
function levelViolations({ lane, meta, bands }: LaneFacts): string[] {
  return Object.entries(meta).flatMap(([name, value]) => {
    const level = Number(/^lv([1-9])$/.exec(name)?.[1])
    if (!level) return []
    const { length } = bands[bandOf(level as Level)]
    return Number(value) > length
      ? [`${lane}: ${value} jobs of level ${level} among ${length} of their band`]
      : []
  })
}

/** Every job outside a list is counted, and has the list's level. */
function asideViolations({ lane, meta, aside, jobs }: LaneFacts): string[] {
  const found: string[] = []
  let sum = 0
  for (const [level, ids] of aside) {
    sum += ids.length
    for (const id of ids) {
      const said = jobs.get(id)?.['level']
      if (said !== String(level))
        found.push(`${lane}: ${id} of level ${said ?? 'none'} waits as ${level}`)
    }
  }
  const counted = meta['aside'] ?? '0'
  return counted === String(sum)
    ? found
    : [...found, `${lane}: counts ${counted} jobs aside of ${sum}`]
}

/** Times at which jobs wait for their turn, milliseconds: see `lua/lib/turns.lua`. */
const [firstTurnMs, lastTurnMs] = [5e16, 2e17]

/** Every job that waits for its turn has its entry, and every entry its job; none runs that is not reserved. */
function turnViolations(facts: LaneFacts, native: boolean): string[] {
  const { lane, jobs, registered, scheduledAtMs, busy, turns } = facts
  const found: string[] = []
  const isWaiting = (atMs = 0): boolean => atMs >= firstTurnMs && atMs <= lastTurnMs
  const entries = new Map(turns.waiting.map(({ id, value }) => [id, value]))
  for (const { id } of turns.waiting) {
    if (!isWaiting(scheduledAtMs.get(id)))
      found.push(`${lane}: ${id} has a turn to come and does not wait`)
  }
  if (entries.size < turns.waiting.length) found.push(`${lane}: a job waits twice for its turn`)
  for (const [id, atMs] of scheduledAtMs) {
    if (!isWaiting(atMs) || entries.get(id) === (jobs.get(id)?.['turn'] ?? '')) continue
    found.push(`${lane}: ${id} waits and has no turn to come`)
  }
  const reserved = new Set(busy)
  for (const { id } of turns.running) {
    if (!reserved.has(id))
      found.push(`${lane}: ${id} counts as running for its value and is not reserved`)
  }
  for (const [value, id] of turns.holders) {
    // A native worker's job may be gone before the next look.
    if (id !== '' && !native && !jobs.has(id))
      found.push(`${lane}: ${id} has the turn of ${value} and has no hash`)
  }
  const { holders, waiting, running, due } = turns
  const isEmpty = holders.size + waiting.length + running.length + due.length === 0
  return registered === undefined && !isEmpty
    ? [...found, `${lane}: has turns and is not registered`]
    : found
}

/** `count:{lane}` is the nodes' workers plus native ones, which cannot be negative. */
export function countViolations({
  lane,
  meta,
  count,
}: Pick<LaneFacts, 'lane' | 'meta' | 'count'>): string[] {
  const found: string[] = []
  const consumers = sumOf(meta, 'c:')
  if (!(nativeWorkers({ meta, count }) >= 0)) {
    const ours = sumOf(meta, 'n:') + consumers
    found.push(`${lane}: counts ${count ?? 'no'} workers, its nodes have ${ours}`)
  }
  const counted = Number(meta['consumers'] ?? 0)
  if (counted !== consumers) found.push(`${lane}: counts ${counted} consumers of ${consumers}`)
  const [labelled, toldLabelled] = [sumOf(meta, 'l:'), Number(meta['labelled'] ?? 0)]
  if (toldLabelled !== labelled) {
    found.push(`${lane}: counts ${toldLabelled} consumers with its label of ${labelled}`)
  }
  return found
}

/** Workers of a lane that no node counts. */
export function nativeWorkers({ meta, count }: Pick<LaneFacts, 'meta' | 'count'>): number {
  return Number(count ?? 0) - sumOf(meta, 'n:') - sumOf(meta, 'c:')
}

/** The sum of the nodes' counts of a kind. */
function sumOf(meta: LaneFacts['meta'], prefix: string): number {
  const ofNodes = Object.entries(meta).filter(([name]) => name.startsWith(prefix))
  return ofNodes.reduce((total, [, value]) => total + Number(value), 0)
}
