/** A one-line change to the code, which the simulation must notice. */
export interface SimulatedFault {
  /** Kebab-case, unique. */
  readonly name: string
  /** Says what the changed code does wrong. */
  readonly does: string
  /** Path of the changed file from the top of the repository. */
  readonly file: string
  /** Text that stands in the file exactly once. */
  readonly from: string
  readonly to: string
}

const core = 'packages/core-scheduler/src'
const doors = 'apps/gateway/src/doors'

const rows: Readonly<Record<string, Omit<SimulatedFault, 'name'>>> = {
  'refused-outcome-forgotten': {
    does: 'An outcome that the store did not answer is not sent again.',
    file: `${core}/results/kept-outcomes.ts`,
    from: 'for (const { again } of waiting) again()',
    to: '',
  },
  'kept-outcome-dropped': {
    does: 'A gateway says that it keeps an outcome, and does not.',
    file: `${core}/results/outcomes.ts`,
    from: 'if (keptOutcomes.add(kept)) return true',
    to: 'if (keptOutcomes.add({ ...kept, again: () => undefined })) return true',
  },
  'pending-outcome-forgotten': {
    does: 'A job that ended while the store was away is told as failed.',
    file: `${core}/results/outcomes.ts`,
    from: "if (refusal.code !== 'REFUSED') this.#setPendingOutcome(item.outcome)",
    to: '',
  },
  'last-word-twice': {
    does: 'A waiting client is told the end of its job twice.',
    file: `${core}/node/waiters.ts`,
    from: 'if (isFinal(event)) this.#forget(ref.lane, ref.id)\n    else',
    to: 'if (isFinal(event)) for (const waiter of [...wait.waiters]) waiter.onEvent(ref, event)\n    if (isFinal(event)) this.#forget(ref.lane, ref.id)\n    else',
  },
  'one-client-told': {
    does: 'Of two clients of a job one is told its end.',
    file: `${core}/node/waiters.ts`,
    from: 'for (const waiter of Array.from(wait.waiters)) waiter.onEvent(ref, event)',
    to: 'for (const waiter of Array.from(wait.waiters).slice(0, 1)) waiter.onEvent(ref, event)',
  },
  'late-claim-kept': {
    does: 'A claim that was answered too late is given to a worker all the same.',
    file: `${core}/dispatch/claims.ts`,
    from: 'return !this.#stopped && this.#parts.clock.nowMs() - sentMs <= claimTimeoutMs',
    to: 'return !this.#stopped',
  },
  'give-back-forgotten': {
    does: 'Jobs of a claim that was answered too late do not go back.',
    file: `${core}/dispatch/claims.ts`,
    from: '    void this.#giveBack(jobs)\n    for (const request of requests)',
    to: '    for (const request of requests)',
  },
  'left-worker-keeps-its-job': {
    does: 'A job whose worker left before it came stays leased.',
    file: `${core}/dispatch/claims.ts`,
    from: 'void this.#giveBack(own.splice(left.length))',
    to: 'for (const job of own.splice(left.length)) this.#parts.activeLeases.add({ job, sinceMs })',
  },
  'room-timer-not-armed': {
    does: 'Nobody wakes workers when a rate limit has room again.',
    file: `${core}/dispatch/room-timers.ts`,
    from: 'if (waitMs === 0 || this.#byLimit.has(limit)) return',
    to: 'if (waitMs >= 0) return',
  },
  'lease-timer-not-armed': {
    does: 'The time limit of CAN_DO_TIMEOUT is not kept.',
    file: `${core}/dispatch/lease-timers.ts`,
    from: 'if (nextMs < Infinity) this.#arm(nextMs)',
    to: '',
  },
  'answers-out-of-order': {
    does: 'A result overtakes its data.',
    file: `${core}/node/answer-order.ts`,
    from: '    await before\n',
    to: '',
  },
  'woken-for-nothing-forgotten': {
    does: 'A worker that goes to sleep does not look for jobs that came meanwhile.',
    file: `${core}/scheduler.ts`,
    from: 'if (look && !this.#parts.claims',
    to: 'if (!look && !this.#parts.claims',
  },
  'nobody-woken': {
    does: 'New jobs wake no idle worker.',
    file: `${core}/node/wakeups.ts`,
    from: 'this.idle.wake(byName, jobs * this.#perJob - named)',
    to: 'this.idle.wake(byName, 0 * named)',
  },
  'expired-lease-stands': {
    does: 'Leases whose time is over stay.',
    file: `${core}/maintenance/reaper.ts`,
    from: 'for (const job of expired) this.#expire(job)',
    to: 'for (const job of expired.slice(0, 0)) this.#expire(job)',
  },
  'dead-node-not-reclaimed': {
    does: 'Jobs of a gateway that died stay leased.',
    file: `${core}/maintenance/dead-node-reclaimer.ts`,
    from: "events.on('deadNodes', (nodes) => this.#reclaimAll(nodes)),",
    to: '',
  },
  'dead-at-once': {
    does: 'A gateway that is late with a heartbeat is taken for dead.',
    file: `${core}/node/dead-nodes.ts`,
    from: 'if (isSilent && sighting.checks >= checksUntilDead) dead.push(node)',
    to: 'if (isSilent || sighting.checks > 0) dead.push(node)',
  },
  'waits-not-restored': {
    does: 'A gateway that was taken for dead does not count its clients again.',
    file: `${core}/maintenance/store-reset.ts`,
    from: 'for (const [lane, clients] of waiters.clients()) await store.nodes.waitAgain(lane, clients)',
    to: '',
  },
  'lost-outcome-stands': {
    does: 'A lease stays that its worker has ended, where the store has lost the end.',
    file: `${core}/maintenance/orphan-leases.ts`,
    from: 'if (before.has(token)) outcomes.add(',
    to: 'if (before.has(token) && !token) outcomes.add(',
  },
  'counts-not-told-again': {
    does: 'Workers that came among lost writes are not counted.',
    file: `${core}/node/worker-counts.ts`,
    from: 'if (wasReset) this.republishAll()\n      else this.#retry()',
    to: 'if (!wasReset) this.#retry()',
  },
  'clock-step-kills-consumers': {
    does: "A consumer is dead by the store's clock alone.",
    file: `${core}/maintenance/lease-holders.ts`,
    from: 'goneMs >= deadMs && nowMs - absence.seenMs >= deadMs * ownShare',
    to: 'goneMs >= deadMs',
  },
  'empty-cache-outlives-arrival': {
    does: 'That there is no job is believed after one has come.',
    file: `${core}/dispatch/local-answers.ts`,
    from: 'known !== undefined && known.arrivals === arrivals && nowMs',
    to: 'known !== undefined && nowMs',
  },
  'answered-before-the-replica': {
    does: 'A job is acknowledged that the replica does not have.',
    file: `${core}/intake/submissions.ts`,
    from: 'if (store.confirm) void this',
    to: 'if (store.confirm && !answer) void this',
  },
  'gone-client-not-abandoned': {
    does: 'A job counts as waited for whose client left before its answer.',
    file: `${core}/intake/submissions.ts`,
    from: 'if (submission.gone) this.abandon(lane, [result.id])',
    to: 'if (submission.gone) void lane',
  },
  'due-jobs-forgotten': {
    does: 'No gateway queues jobs that have fallen due.',
    file: `${core}/maintenance/reaper.ts`,
    from: 'await store.lanes.promote()) wakeups.wake(lane, jobs)',
    to: '[] as { lane: string; jobs: number }[]) void [store], wakeups.wake(lane, jobs)',
  },
  'unique-id-forgotten': {
    does: 'Jobs with one unique id are not joined, and a client of one waits for the other.',
    file: `${doors}/gearman/handlers/client.ts`,
    from: '...(key && { unique: key }),',
    to: '...(key && foreground && { unique: key }),',
  },
  'lost-worker-keeps-its-jobs': {
    does: 'Jobs of a Gearman worker that vanished stay leased.',
    file: `${doors}/gearman/worker-side.ts`,
    from: '    this.#derived = undefined\n    this.#loseAll([...this.#held.values()])',
    to: '    this.#derived = undefined',
  },
  'worker-counted-twice': {
    does: 'A worker that names a function twice is counted twice.',
    file: `${doors}/gearman/worker-side.ts`,
    from: 'if (!known) this.#session.scheduler.countNamed(fn, 1)',
    to: 'this.#session.scheduler.countNamed(fn, 1), void known',
  },
  'noop-not-sent': {
    does: 'A sleeping Gearman worker is not woken.',
    file: `${doors}/gearman/worker-side.ts`,
    from: '    this.#session.connection.sendAtHand(noop)',
    to: '    void noop',
  },
  'fetch-gives-up-its-job': {
    does: 'A FETCH whose time is up does not wait for its claim.',
    file: `${doors}/faktory/fetch.ts`,
    from: 'if (this.#isClaiming) return',
    to: '',
  },
  'fail-as-ack': {
    does: 'A FAIL is taken for an ACK.',
    file: `${doors}/faktory/handlers/outcomes.ts`,
    from: 'this.session.context.scheduler.fail(assignment, report, this)',
    to: 'void report, this.session.context.scheduler.complete(assignment, Buffer.alloc(0), this)',
  },
  'replies-out-of-order': {
    does: 'A reply that is ready does not wait for those before it.',
    file: `${doors}/net/connection.ts`,
    from: '    if (this.#slots.isEmpty) {\n      this.#write(bytes)\n      return undefined\n    }',
    to: '    this.#write(bytes)\n    if (bytes.length >= 0) return undefined',
  },
  'half-closed-is-gone': {
    does: 'A connection that breaks is kept.',
    file: `${doors}/gearman/session.ts`,
    from: '    this.worker.leave()',
    to: '',
  },
}

export const faults: readonly SimulatedFault[] = Object.entries(rows).map(([name, row]) => {
  return { name, ...row }
})
