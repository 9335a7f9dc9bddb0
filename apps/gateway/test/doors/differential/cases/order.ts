import { canDo, type Case, casesOf, grabs, type Step, takes } from '../script.ts'

const twoOfEach: readonly Step[] = ['a', 'a', 'b', 'b', 'c', 'c'].map((fn, at) => [
  'client',
  'SUBMIT_JOB_BG',
  fn,
  '',
  String(at),
])

const canDoAll = canDo('worker', 'a', 'b', 'c')

const mixed = ['LOW_BG', 'BG', 'HIGH_BG', 'LOW', 'HIGH', 'HIGH_BG', 'BG', 'LOW_BG']

export const orderCases: readonly Case[] = casesOf({
  'priorities are taken high to low, each in the order of arrival': [
    ...mixed.map((kind, at): Step => {
      return ['client', `SUBMIT_JOB_${kind}` as 'SUBMIT_JOB_BG', 'mail', '', String(at)]
    }),
    ['client', 'SUBMIT_JOB', 'mail', '', 'normal'],
    ['admin', 'text', 'prioritystatus'],
    ...takes(mixed.length),
    ['worker', 'GRAB_JOB_UNIQ'],
    ['worker', 'GRAB_JOB_ALL'],
  ],
  'the function that was named last comes first': [...twoOfEach, ...canDoAll, ...grabs(7)],
  'functions take turns, -R': {
    flags: { roundRobin: true },
    steps: [...twoOfEach, ...canDoAll, ...grabs(7)],
  },
  'a function that is named again comes first': [
    ...twoOfEach,
    ...canDoAll,
    ['worker', 'CAN_DO', 'a'],
    ...grabs(7),
  ],
  'a function that is given up and named again comes first, -R': {
    flags: { roundRobin: true },
    steps: [
      ...twoOfEach,
      ...canDoAll,
      ['worker', 'CANT_DO', 'b'],
      ['worker', 'CAN_DO', 'b'],
      ...grabs(7),
    ],
  },
  'a priority counts within its function alone': [
    ['client', 'SUBMIT_JOB_HIGH_BG', 'a', '', 'high'],
    ['client', 'SUBMIT_JOB_LOW_BG', 'b', '', 'low'],
    ...canDo('worker', 'a', 'b'),
    ...grabs(2),
  ],
  'turns with a function that has no job between them, -R': {
    flags: { roundRobin: true },
    steps: [
      ['client', 'SUBMIT_JOB_BG', 'a', '', '1'],
      ['client', 'SUBMIT_JOB_BG', 'a', '', '2'],
      ['client', 'SUBMIT_JOB_BG', 'c', '', '3'],
      ['client', 'SUBMIT_JOB_BG', 'c', '', '4'],
      ...canDoAll,
      ...grabs(7),
    ],
  },
  'a hundred jobs in one write, taken in their order': [
    [
      'client',
      'at once',
      ...Array.from({ length: 100 }, (_, at) => {
        return ['SUBMIT_JOB_BG', 'mail', `u${at}`, `job ${at}`] as const
      }),
    ],
    ['worker', 'CAN_DO', 'mail'],
    ['worker', 'at once', ...Array.from({ length: 101 }, () => ['GRAB_JOB_UNIQ'] as const)],
    ['admin', 'text', 'status'],
  ],
})
