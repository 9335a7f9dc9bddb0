import type {
  ClaimRequest,
  NewJob,
  Outcome,
  Reservation,
  Settled,
  Submitted,
  Throttle,
} from '@crossgear/core-scheduler'
import type { RedisJobs } from '../job-steps.ts'
import type { StoreLink } from '../store-link.ts'
import { Aftermath } from './aftermath.ts'
import { BatchJoins, type Join } from './batch-joins.ts'
import { ClusterClaim } from './cluster-claim.ts'
import { ClusterThrottles } from './cluster-throttles.ts'
import { ClusterTies } from './cluster-ties.ts'

/**
 * The steps that touch more than a lane, on a cluster: the lane's part is one atomic step as
 * everywhere, what is in other slots comes before or after it.
 */
export class ClusterSteps implements Pick<RedisJobs, 'submit' | 'claim' | 'finish'> {
  readonly #link: StoreLink
  readonly #jobs: RedisJobs
  readonly #ties: ClusterTies
  readonly #joins: BatchJoins
  readonly #aftermath: Aftermath
  readonly #throttles: ClusterThrottles

  constructor(link: StoreLink, jobs: RedisJobs, throttles: ReadonlyMap<string, Throttle>) {
    this.#link = link
    this.#jobs = jobs
    this.#ties = new ClusterTies(link)
    this.#joins = new BatchJoins(link)
    this.#aftermath = new Aftermath(link, this.#ties)
    this.#throttles = new ClusterThrottles(link, throttles)
    link.afterwards((name, args) => this.#aftermath.after(name, args))
  }

  async submit(lane: string, jobs: readonly NewJob[]): Promise<readonly Submitted[]> {
    if (jobs.every(({ batch }) => batch === undefined)) return this.#jobs.submit(lane, jobs)
    const joined = await this.#joinBatches(lane, jobs)
    const isKnown = ({ batch }: NewJob): boolean => batch === undefined || joined.has(batch)
    const taken = jobs.filter(isKnown)
    const notes = new Map([...joined].map(([bid, { note }]) => [bid, note]))
    const stored = taken.length > 0 ? await this.#jobs.submit(lane, taken, notes) : []
    const left = countByBatch(taken.filter((_job, at) => stored[at]?.kind !== 'created'))
    await this.#link.ifThere(async () => {
      for (const [bid, join] of joined) await this.#joins.settle(join, left.get(bid) ?? 0)
    })
    const results = stored.values()
    return jobs.map((job) =>
      isKnown(job) ? (results.next().value ?? { kind: 'full' }) : { kind: 'unbatched' },
    )
  }

  claim(request: ClaimRequest): Promise<readonly Reservation[]> {
    const parts = {
      link: this.#link,
      jobs: this.#jobs,
      aftermath: this.#aftermath,
      throttles: this.#throttles,
    }
    return new ClusterClaim(parts, request).run()
  }

  async finish(lane: string, outcomes: readonly Outcome[]): Promise<readonly Settled[]> {
    const settled = await this.#jobs.finish(lane, outcomes)
    const ended = outcomes.filter((_outcome, at) => settled[at] !== 'unknown')
    await this.#link.ifThere(() => this.#throttles.free(this.#link.names.parse(lane).queue, ended))
    return settled
  }

  /** Does what a node that died may have left undone. */
  async heal(): Promise<void> {
    await this.#joins.settleOverdue()
    await this.#ties.pushCallbacks()
  }

  /** How the jobs have joined their batches, those that are known. */
  async #joinBatches(lane: string, jobs: readonly NewJob[]): Promise<ReadonlyMap<string, Join>> {
    const joined = new Map<string, Join>()
    for (const [bid, many] of countByBatch(jobs)) {
      const join = await this.#joins.join(bid, lane, many)
      if (join) joined.set(bid, join)
    }
    return joined
  }
}

function countByBatch(jobs: readonly NewJob[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { batch } of jobs) {
    if (batch !== undefined) counts.set(batch, (counts.get(batch) ?? 0) + 1)
  }
  return counts
}
