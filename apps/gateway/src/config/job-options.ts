import { inGroup, oneOf, versionOf, whole, yesNo } from './value-kinds.ts'

const yearSeconds = 365 * 24 * 3600
const weekSeconds = 7 * 24 * 3600

/** Retries, order, time and repair of jobs. */
export const jobOptions = inGroup('Jobs', {
  jobRetries: {
    ...whole('n', 0, 1_000_000, 0),
    help: 'number of lost workers at which a job is given up; 0: never',
  },
  workerWakeup: {
    ...whole('n', 0, 1_000_000, 1),
    help: 'sleeping Gearman workers woken for each job; 0: all of its function',
  },
  roundRobin: {
    ...yesNo,
    help: 'give a Gearman worker jobs of its functions in turn; no: the function it named last comes first (gearmand 2.0: always in turn)',
  },
  gearmandVersion: {
    ...versionOf(['1.1', '2.0'], '1.1'),
    help: 'version of gearmand whose order of jobs the Gearman port follows: 1.1 (function after function, priorities within each) or 2.0 (the highest priority of all functions of a worker, functions in turn)',
  },
  exceptions: {
    ...yesNo,
    help: 'send exceptions to Gearman clients that did not ask for them',
  },
  drainSeconds: {
    ...whole('seconds', 0, yearSeconds, 10),
    help: 'how long a stopping gateway still takes outcomes of running jobs',
  },
  bridgeFaktory: {
    ...oneOf('rule', ['auto', 'routed'], 'auto'),
    help: 'jobs of other doors that Faktory consumers get: auto (also of functions without a recent worker by name) or routed (only of functions that a route, a Faktory producer or an operator opens to them)',
    key: 'bridge.faktory',
  },
  bridgeGraceDays: {
    ...whole('days', 0, 3650, 7),
    help: 'how long auto keeps a function from Faktory consumers after its last worker by name left; 0: only while one is there',
    key: 'bridge.grace_days',
  },
  faktoryDeadWorkerRequeue: {
    ...oneOf('rule', ['others', 'gone', 'all'], 'gone'),
    help: 'jobs that a dead Faktory worker (it closed all its connections, and stayed away for 60 s) gives back: others (jobs of other doors; those of Faktory producers wait for the end of their reserve_for), gone (also those of producers, unless the gateway that handed them out died as well) or all (those too)',
  },
  repair: {
    ...oneOf('rule', ['off', 'report', 'strays', 'on'], 'strays'),
    help: 'repair of what native GearMonkey programs leave when they die: off, report (log and count it), strays (requeue idle jobs that are in no queue) or on (also requeue busy jobs and correct counts)',
  },
  repairLeaseSeconds: {
    ...whole('seconds', 1, weekSeconds, 3600),
    help: 'how long a job must not change before it is repaired; longer than any native job runs without reporting progress',
  },
})
