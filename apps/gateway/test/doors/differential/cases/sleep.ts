import { canDo, type Case, casesOf, grabs, sleeps, type Step, submits } from '../script.ts'

const sleepers = ['worker1', 'worker2', 'worker3', 'worker4']

export const sleepCases: readonly Case[] = [
  ...casesOf({
    'NOOP comes once for a sleep, however many jobs come': [
      ...sleeps(),
      ...submits('1', '2'),
      ['worker', 'GRAB_JOB'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '3'],
      ['worker', 'PRE_SLEEP'],
      ...grabs(3),
      ['worker', 'PRE_SLEEP'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '4'],
    ],
    'NOOP comes again to a worker that sleeps again without a grab': [
      ...sleeps(),
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['worker', 'PRE_SLEEP'],
      ['worker', 'PRE_SLEEP'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '2'],
    ],
    'PRE_SLEEP with a job pending': [
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ...sleeps(),
      ['worker', 'GRAB_JOB'],
      ['worker', 'PRE_SLEEP'],
    ],
    'PRE_SLEEP in one write with other requests': [
      ...submits('1', '2', '3'),
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'at once', ['PRE_SLEEP'], ['PRE_SLEEP']],
      ['worker', 'at once', ['PRE_SLEEP'], ['GRAB_JOB']],
      ['worker', 'at once', ['GRAB_JOB'], ['PRE_SLEEP']],
      ['worker', 'at once', ['PRE_SLEEP'], ['GRAB_JOB'], ['GRAB_JOB'], ['PRE_SLEEP']],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '4'],
    ],
    'PRE_SLEEP with a job pending of a function that it cannot do': [
      ['client', 'SUBMIT_JOB_BG', 'post', '', '1'],
      ...sleeps(),
      ['client', 'SUBMIT_JOB_BG', 'post', '', '2'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '3'],
    ],
    'PRE_SLEEP of a worker without functions': [
      ['worker', 'PRE_SLEEP'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['worker', 'GRAB_JOB'],
    ],
    'GRAB_JOB without a NOOP ends the sleep': [
      ...sleeps(),
      ['worker', 'GRAB_JOB'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
    ],
    'a sleeper of several functions is woken once': [
      ...canDo('worker', 'mail', 'post'),
      ['worker', 'PRE_SLEEP'],
      ['client', 'at once', ['SUBMIT_JOB_BG', 'mail', '', '1'], ['SUBMIT_JOB_BG', 'post', '', '2']],
      ...grabs(3),
    ],
    'a sleeper learns a function that has a job pending': [
      ['client', 'SUBMIT_JOB_BG', 'post', '', '1'],
      ...sleeps(),
      ['worker', 'CAN_DO', 'post'],
      ['client', 'SUBMIT_JOB_BG', 'post', '', '2'],
      ['worker', 'GRAB_JOB'],
    ],
    'a sleeper forgets a function': [
      ...canDo('worker', 'mail', 'post'),
      ['worker', 'PRE_SLEEP'],
      ['worker', 'CANT_DO', 'mail'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['client', 'SUBMIT_JOB_BG', 'post', '', '2'],
    ],
    'a sleeper forgets all functions': [
      ...sleeps(),
      ['worker', 'RESET_ABILITIES'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '2'],
      ['worker', 'GRAB_JOB'],
    ],
    'a coalesced job wakes nobody again': [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB_BG', 'mail', 'u', '1'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'PRE_SLEEP'],
      ['client', 'SUBMIT_JOB_BG', 'mail', 'u', '2'],
      ['worker', 'WORK_COMPLETE', 'H#1', ''],
    ],
  }),
  ...[0, 1, 2].map((wakeup): Case => ({
    name: `four sleepers and three jobs, -w ${wakeup}`,
    flags: { wakeup },
    steps: [
      ...sleepers.map((worker): Step => [worker, 'CAN_DO', 'mail']),
      ...sleepers.map((worker): Step => [worker, 'PRE_SLEEP']),
      ...submits('1', '2', '3'),
    ],
  })),
  ...casesOf({
    'two sleepers take turns, -w 1': {
      flags: { wakeup: 1 },
      steps: [
        ['worker1', 'CAN_DO', 'mail'],
        ['worker2', 'CAN_DO', 'mail'],
        ['worker1', 'PRE_SLEEP'],
        ['worker2', 'PRE_SLEEP'],
        ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
        ['worker1', 'GRAB_JOB'],
        ['worker2', 'GRAB_JOB'],
        ['worker1', 'PRE_SLEEP'],
        ['worker2', 'PRE_SLEEP'],
        ...submits('2', '3', '4'),
      ],
    },
    'the job of a lost worker wakes a sleeper': [
      ['worker', 'CAN_DO', 'mail'],
      ['worker2', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['worker', 'GRAB_JOB'],
      ['worker2', 'PRE_SLEEP'],
      ['worker', 'close'],
      ['worker2', 'GRAB_JOB'],
    ],
  }),
]
