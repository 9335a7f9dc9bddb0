import type { Improvements } from '../improvements.ts'

/** Jobs, and those who wait and work for them. */
export const jobImprovements: Improvements = {
  'a sleeper learns a function that has a job pending': {
    reason: 'The worker is woken at once for the waiting job. gearmand wakes it with the next job.',
    gearmand: ['5 worker NOOP'],
    crossgear: ['4 worker NOOP'],
  },
  'PRE_SLEEP in one write with other requests': {
    reason:
      'A worker that asks for a job in the same write needs no NOOP, and one that says twice that it sleeps gets one. It gets the same jobs.',
    gearmand: [
      '5 worker NOOP',
      '5 worker NOOP',
      '6 worker NOOP',
      '6 worker JOB_ASSIGN H#1|mail|1',
      '8 worker NOOP',
      '8 worker JOB_ASSIGN H#3|mail|3',
      '8 worker NO_JOB',
    ],
    crossgear: [
      '5 worker NOOP',
      '6 worker JOB_ASSIGN H#1|mail|1',
      '8 worker JOB_ASSIGN H#3|mail|3',
      '8 worker NO_JOB',
    ],
  },
  'a worker names a function between two grabs of one write': {
    reason:
      'Names that a worker sends together take effect together, so that thousands of names do not slow down others. It gets the same jobs.',
    gearmand: ['3 worker JOB_ASSIGN H#1|mail|a', '3 worker JOB_ASSIGN H#2|post|b'],
    crossgear: ['3 worker JOB_ASSIGN H#2|post|b', '3 worker JOB_ASSIGN H#1|mail|a'],
  },
  'two sleepers take turns, -w 1': {
    reason:
      'The worker that has slept longest is woken first. gearmand goes round the list of workers.',
    gearmand: ['10 worker2 NOOP', '11 worker1 NOOP'],
    crossgear: ['10 worker1 NOOP', '11 worker2 NOOP'],
  },
  'WORK_EXCEPTION, then WORK_FAIL': {
    reason:
      'Several worker libraries send both for one job, and stop if the second one gets an error.',
    gearmand: ['5 worker ERROR JOB_NOT_FOUND|Job given in work result not found'],
    crossgear: [],
  },
  'CAN_DO for a function that it can do already': {
    reason: 'A worker counts as one worker, however often it names a function.',
    gearmand: [
      '4 admin "mail\\t0\\t0\\t3\\n"',
      '4 admin ".\\n"',
      '5 admin "<fd> 127.0.0.1 - : mail mail mail\\n"',
      '5 admin "<fd> 127.0.0.1 - :\\n"',
      '5 admin ".\\n"',
    ],
    crossgear: [
      '4 admin "mail\\t0\\t0\\t1\\n"',
      '4 admin ".\\n"',
      '5 admin "<fd> 127.0.0.1 - : mail\\n"',
      '5 admin "<fd> 127.0.0.1 - :\\n"',
      '5 admin ".\\n"',
    ],
  },
  'the WORK_FAIL that stands for an exception': {
    reason: 'The handle is sent without the NUL that is not part of it.',
    gearmand: ['4 client WORK_FAIL H#1|'],
    crossgear: ['4 client WORK_FAIL H#1'],
  },
  'a client leaves, and then the worker of its job': {
    reason:
      'A job that nobody waits for ends with its worker. gearmand counts it until the next grab.',
    gearmand: ['7 worker2 NOOP', '8 admin "mail\\t1\\t0\\t1\\n"', '8 admin ".\\n"'],
    crossgear: ['8 admin "mail\\t0\\t0\\t1\\n"', '8 admin ".\\n"'],
  },
  'a client leaves a background job that it joined': {
    reason: 'The job was also accepted as a background job, so it is run.',
    gearmand: ['6 worker NO_JOB'],
    crossgear: ['6 worker JOB_ASSIGN H#1|mail|x'],
  },
  'a background job joins a foreground job whose client then leaves': {
    reason: 'The job was also accepted as a background job, so it is run.',
    gearmand: ['6 worker NO_JOB'],
    crossgear: ['6 worker JOB_ASSIGN H#1|mail|x'],
  },
  'a client takes up a job that another has left': {
    reason: 'A client waits for the job again, so it is run.',
    gearmand: ['5 worker NO_JOB'],
    crossgear: ['5 worker JOB_ASSIGN H#1|mail|first'],
  },
  'a queued job is cancelled': {
    reason: 'A cancelled job no longer exists.',
    gearmand: ['4 client STATUS_RES H#1|1|0|0|0'],
    crossgear: ['4 client STATUS_RES H#1|0|0|0|0'],
  },
  'a job is cancelled twice': {
    reason: 'A cancelled job cannot be cancelled again, and its clients get one failure.',
    gearmand: ['3 client WORK_FAIL H#1', '3 admin "OK\\r\\n"'],
    crossgear: ['3 admin "ERR UNKNOWN_JOB\\r\\n"'],
  },
  'a running job is cancelled': {
    reason:
      'Clients that got the failure get no result after it, and the worker gets an error for its result.',
    gearmand: ['5 client STATUS_RES H#1|1|1|0|0', '6 client WORK_COMPLETE H#1|late'],
    crossgear: [
      '5 client STATUS_RES H#1|0|0|0|0',
      '6 worker ERROR JOB_NOT_FOUND|Job given in work result not found',
    ],
  },
  'drop function that has only queued jobs': {
    reason: 'The clients of the dropped jobs get a failure and do not wait for ever.',
    gearmand: ['4 client STATUS_RES H#1|1|0|0|0'],
    crossgear: ['2 client WORK_FAIL H#1', '4 client STATUS_RES H#1|0|0|0|0'],
  },
  'SUBMIT_JOB_EPOCH in the future': {
    reason: 'Workers are not woken for a job before it is due.',
    gearmand: ['3 worker NOOP'],
    crossgear: [],
  },
  'a sleeper and a job that falls due': {
    mendedIn20: true,
    reason: 'Workers are woken when the job is due. gearmand wakes them with the next job.',
    gearmand: [],
    crossgear: ['5 worker NOOP'],
  },
}
