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
  readonly #aftermath: Aftermath
  readonly #throttles: ClusterThrottles

  constructor(link: StoreLink, jobs: RedisJobs, throttles: ReadonlyMap<string, Throttle>) {
    this.#link = link
    this.#jobs = jobs
    this.#ties = new ClusterTies(link)
    this.#aftermath = new Aftermath(link, this.#ties)
    this.#throttles = new ClusterThrottles(link, throttles)
    link.afterwards((name, args) => this.#aftermath.after(name, args))
  }

  async submit(lane: string, jobs: readonly NewJob[]): Promise<readonly Submitted[]> {
    if (jobs.every(({ batch }) => batch === undefined)) return this.#jobs.submit(lane, jobs)
    const unknown = await this.#joinBatches(jobs)
    const taken = jobs.filter(({ batch = '' }) => !unknown.has(batch))
    const stored = taken.length > 0 ? await this.#jobs.submit(lane, taken) : []
    await this.#leaveBatches(taken, stored)
    const results = stored.values()
    return jobs.map(({ batch = '' }) =>
      unknown.has(batch) ? { kind: 'unbatched' } : (results.next().value ?? { kind: 'full' }),
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
  heal(): Promise<void> {
    return this.#ties.pushCallbacks()
  }

  /** Returns the batches that are not known. */
  async #joinBatches(jobs: readonly NewJob[]): Promise<ReadonlySet<string>> {
    const unknown = new Set<string>()
    for (const [bid, many] of byBatch(jobs)) {
      if (!(await this.#ties.join(bid, many))) unknown.add(bid)
    }
    return unknown
  }

  async #leaveBatches(jobs: readonly NewJob[], stored: readonly Submitted[]): Promise<void> {
    const refused = jobs.filter((_job, at) => stored[at]?.kind !== 'created')
    for (const [bid, many] of byBatch(refused)) await this.#ties.join(bid, -many)
  }
}

function byBatch(jobs: readonly NewJob[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { batch } of jobs) {
    if (batch !== undefined) counts.set(batch, (counts.get(batch) ?? 0) + 1)
  }
  return counts
}
