import { oneOf, row, versionOf, wholeNumber, yesNo } from './value-kinds.ts'

const yearSeconds = 365 * 24 * 3600
const weekSeconds = 7 * 24 * 3600

/** Retries, order, time and repair of jobs. */
export const jobOptions = {
  jobRetries: row({
    group: 'Jobs',
    argument: 'n',
    help: 'number of lost workers at which a job is given up; 0: never',
    value: wholeNumber(0, 1_000_000),
    fallback: 0,
  }),
  workerWakeup: row({
    group: 'Jobs',
    argument: 'n',
    help: 'sleeping Gearman workers woken for each job; 0: all of its function',
    value: wholeNumber(0, 1_000_000),
    fallback: 1,
  }),
  roundRobin: row({
    group: 'Jobs',
    argument: 'yes|no',
    help: 'give a Gearman worker jobs of its functions in turn; no: the function it named last comes first (gearmand 2.0: always in turn)',
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  }),
  gearmandVersion: row({
    group: 'Jobs',
    argument: 'version',
    help: 'version of gearmand whose order of jobs the Gearman port follows: 1.1 (function after function, priorities within each) or 2.0 (the highest priority of all functions of a worker, functions in turn)',
    value: versionOf(['1.1', '2.0']),
    fallback: '1.1',
  }),
  exceptions: row({
    group: 'Jobs',
    argument: 'yes|no',
    help: 'send exceptions to Gearman clients that did not ask for them',
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  }),
  drainSeconds: row({
    group: 'Jobs',
    argument: 'seconds',
    help: 'how long a stopping gateway still takes outcomes of running jobs',
    value: wholeNumber(0, yearSeconds),
    fallback: 10,
  }),
  bridgeFaktory: row({
    group: 'Jobs',
    argument: 'rule',
    help: 'jobs of other doors that Faktory consumers get: auto (also of functions without a recent worker by name) or routed (only of functions that a route, a Faktory producer or an operator opens to them)',
    value: oneOf(['auto', 'routed']),
    fallback: 'auto',
    key: 'bridge.faktory',
  }),
  bridgeGraceDays: row({
    group: 'Jobs',
    argument: 'days',
    help: 'how long auto keeps a function from Faktory consumers after its last worker by name left; 0: only while one is there',
    value: wholeNumber(0, 3650),
    fallback: 7,
    key: 'bridge.grace_days',
  }),
  faktoryDeadWorkerRequeue: row({
    group: 'Jobs',
    argument: 'rule',
    help: 'jobs that a dead Faktory worker (no BEAT for 60 s, or without a wid no connection) gives back at once: others (jobs of other doors; those of Faktory producers wait for the end of their reserve_for) or all',
    value: oneOf(['others', 'all']),
    fallback: 'others',
  }),
  repair: row({
    group: 'Jobs',
    argument: 'rule',
    help: 'repair of what native GearMonkey programs leave when they die: off, report (log and count it), strays (requeue idle jobs that are in no queue) or on (also requeue busy jobs and correct counts)',
    value: oneOf(['off', 'report', 'strays', 'on']),
    fallback: 'strays',
  }),
  repairLeaseSeconds: row({
    group: 'Jobs',
    argument: 'seconds',
    help: 'how long a job must not change before it is repaired; longer than any native job runs without reporting progress',
    value: wholeNumber(1, weekSeconds),
    fallback: 3600,
  }),
}
