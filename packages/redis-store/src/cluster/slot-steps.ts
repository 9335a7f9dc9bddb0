import {
  AnswerOrder,
  StoreError,
  type ClaimRequest,
  type LaneArrivals,
  type LaneOutcomes,
  type LaneSubmitted,
  type Lease,
  type StepReport,
  type Settled,
} from '@crossgear/core-scheduler'
import type { JobSteps } from '../step/job-steps.ts'

/** Most items and payload bytes of a call; what comes on top goes with another. */
const maxItems = 256
const maxBytes = 4 * 1024 * 1024
const slots = 16_384
/** CRC-16/XMODEM, as the cluster specification has it. */
const polynomial = 0x1021

/** A submission to a lane, with its time of arrival and the notes of its joins to batches. */
export interface SlotArrivals {
  readonly arrivals: LaneArrivals
  /** Microseconds since 1970. */
  readonly atUs: number
  readonly notes: ReadonlyMap<string, string>
}

interface Member<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

class Draft {
  readonly reports: Member<StepReport, boolean>[] = []
  readonly outcomes: Member<LaneOutcomes, readonly Settled[]>[] = []
  readonly submissions: Member<SlotArrivals, LaneSubmitted>[] = []
  readonly claims: Member<ClaimRequest, readonly Lease[]>[] = []
  items = 0
  bytes = 0
}
type Kind = 'reports' | 'outcomes' | 'submissions' | 'claims'

/**
 * Gathers all that comes for the lanes of a hash slot before the event loop goes on, and sends it
 * as one call. Slots do not wait for each other: the server of one may be away.
 */
export class SlotSteps {
  readonly #jobs: Pick<JobSteps, 'step'>
  readonly #drafts = new Map<number, Draft>()
  /** By slot, of which there is a bounded number. */
  readonly #answers = new Map<number, AnswerOrder>()

  constructor(jobs: Pick<JobSteps, 'step'>) {
    this.#jobs = jobs
  }

  report(report: StepReport): Promise<boolean> {
    const bytes = 'data' in report ? report.data.length : 0
    return this.#add(report.lane, 'reports', report, 1, bytes)
  }

  finish(lane: LaneOutcomes): Promise<readonly Settled[]> {
    const { outcomes } = lane
    const bytes = sum(outcomes, (one) => (one.kind === 'complete' ? one.output.length : 0))
    return this.#add(lane.lane, 'outcomes', lane, outcomes.length, bytes)
  }

  submit(submission: SlotArrivals): Promise<LaneSubmitted> {
    const { lane, jobs } = submission.arrivals
    const bytes = sum(jobs, ({ input }) => input.length)
    return this.#add(lane, 'submissions', submission, jobs.length, bytes)
  }

  /** Claims from one lane, whatever the limits of its queue. */
  claim(
    lane: string,
    request: Omit<ClaimRequest, 'groups'>,
    leaseMs?: number,
  ): Promise<readonly Lease[]> {
    const group = leaseMs === undefined ? { lanes: [lane] } : { lanes: [lane], leaseMs }
    return this.#add(
      lane,
      'claims',
      { ...request, groups: [group] },
      request.max + (request.prefetch ?? 0),
      0,
    )
  }

  #add<Of extends Kind>(
    lane: string,
    kind: Of,
    item: Draft[Of][number]['item'],
    items: number,
    bytes: number,
  ): Promise<Parameters<Draft[Of][number]['resolve']>[0]> {
    const slot = slotOfLane(lane)
    const draft = this.#draftOf(slot, items, bytes)
    return new Promise((resolve, reject) => {
      const members = draft[kind] as Member<unknown, unknown>[]
      members.push({ item, resolve: resolve as (answer: unknown) => void, reject })
    })
  }

  /** Sends what was gathered. Calls that the sending itself makes find nothing more. */
  flush(): void {
    const drafts = [...this.#drafts]
    this.#drafts.clear()
    for (const [slot, draft] of drafts) void this.#send(slot, draft)
  }

  #draftOf(slot: number, items: number, bytes: number): Draft {
    let draft = this.#drafts.get(slot)
    if (draft && (draft.items + items > maxItems || draft.bytes + bytes > maxBytes)) {
      this.#drafts.delete(slot)
      void this.#send(slot, draft)
      draft = undefined
    }
    if (this.#drafts.size === 0) queueMicrotask(() => this.flush())
    draft ??= new Draft()
    this.#drafts.set(slot, draft)
    draft.items += items
    draft.bytes += bytes
    return draft
  }

  async #send(slot: number, draft: Draft): Promise<void> {
    const answers = this.#answers.get(slot) ?? new AnswerOrder()
    this.#answers.set(slot, answers)
    const { reports, outcomes, submissions, claims } = draft
    const atUs = Math.min(...submissions.map(({ item }) => item.atUs))
    const arrivals = submissions.map(({ item }) => behind(item, item.atUs - atUs))
    const notes = new Map(arrivals.map((one, at) => [one, submissions[at]?.item.notes] as const))
    try {
      const step = {
        reports: reports.map(({ item }) => item),
        outcomes: outcomes.map(({ item }) => item),
        submissions: arrivals,
        claims: claims.map(({ item }) => item),
      }
      const ways = { unlimited: true, notes, ...(submissions.length > 0 && { atUs }) }
      const answer = await answers.inTurn(this.#jobs.step(step, ways))
      settle(reports, answer.reports)
      settle(outcomes, answer.outcomes)
      settle(submissions, answer.submissions)
      settle(claims, answer.claims)
    } catch (error) {
      for (const { reject } of [...reports, ...outcomes, ...submissions, ...claims]) reject(error)
    }
  }
}

/** The same jobs, counted from an earlier time of arrival. */
function behind({ arrivals }: SlotArrivals, us: number): LaneArrivals {
  return { ...arrivals, places: arrivals.places.map((place) => place + us) }
}

function settle<Answer>(
  members: readonly Member<unknown, Answer>[],
  answers: readonly (Answer | StoreError)[],
): void {
  for (const [at, { resolve, reject }] of members.entries()) {
    const answer = answers[at]
    if (answer === undefined) reject(new StoreError('REFUSED', 'the store did not answer'))
    else if (answer instanceof StoreError) reject(answer)
    else resolve(answer)
  }
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}

/** The hash slot of a lane's keys, in which the lane stands in braces. */
export function slotOfLane(lane: string): number {
  const end = lane.indexOf('}')
  let crc = 0
  for (const byte of Buffer.from(end < 0 ? lane : lane.slice(0, end))) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ polynomial
    }
    crc &= 0xffff
  }
  return crc % slots
}
