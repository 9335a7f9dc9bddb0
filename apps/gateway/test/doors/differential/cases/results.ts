import { type Case, casesOf, type Flags, running, type Step, takes } from '../script.ts'

const start: readonly Step[] = [
  ['client', 'OPTION_REQ', 'exceptions'],
  ['client', 'SUBMIT_JOB', 'mail', 'u', 'x'],
  ['other', 'SUBMIT_JOB', 'mail', 'u', 'x'],
  ...takes(),
]

/** A line without the NUL at its end: an improvement with a case of its own is about it. */
export function withoutLastNul(line: string): string {
  return line.replace(/(WORK_FAIL H#\d+)\|$/, '$1')
}

const everyFlag: readonly (readonly [string, Flags])[] = [
  ['', {}],
  [', --exceptions', { exceptions: true }],
]

const exceptions: readonly Case[] = everyFlag.flatMap(([words, flags]) =>
  ['why', '', 'a\0b\xff'].map((data) => ({
    name: `WORK_EXCEPTION ${JSON.stringify(data)} to one client that asked for it and one that did not${words}`,
    flags,
    steps: [
      ...start,
      ['worker', 'WORK_DATA', 'H#1', 'first'],
      ['worker', 'WORK_EXCEPTION', 'H#1', data],
      ['client', 'GET_STATUS', 'H#1'],
      ['admin', 'text', 'status'],
    ] satisfies Step[],
    normalise: withoutLastNul,
  })),
)

const figures: readonly Case[] = [
  ['1', '2'],
  ['0', '0'],
  ['50', ''],
  ['-1', '-5'],
  ['half', 'whole'],
  ['4294967295', '4294967296'],
  ['12345678901234', '1'],
  ['1', '1234567890'],
  ['99999999999', '99999999999'],
  ['99999999999999999999', '1'],
  ['-99999999999', '1'],
  ['1.5', '3.5'],
  [' 7', '8 '],
].map(([numerator = '', denominator = '']) => ({
  name: `WORK_STATUS ${JSON.stringify(numerator)} of ${JSON.stringify(denominator)}`,
  steps: [
    ...running('x', 'u'),
    ['worker', 'WORK_STATUS', 'H#1', numerator, denominator],
    ['other', 'GET_STATUS', 'H#1'],
    ['other', 'GET_STATUS_UNIQUE', 'u'],
  ],
}))

export const resultCases: readonly Case[] = [
  ...exceptions,
  ...figures,
  ...casesOf({
    'the WORK_FAIL that stands for an exception': [
      ...running(),
      ['worker', 'WORK_EXCEPTION', 'H#1', 'why'],
    ],
    'data, warnings, progress and result reach every client of the job': [
      ...start,
      ['worker', 'WORK_DATA', 'H#1', '1'],
      ['worker', 'WORK_WARNING', 'H#1', '2'],
      ['worker', 'WORK_STATUS', 'H#1', '3', '4'],
      ['worker', 'WORK_DATA', 'H#1', '5'],
      ['worker', 'WORK_COMPLETE', 'H#1', '6'],
    ],
    'data, a warning and a result in one write': [
      ...start,
      [
        'worker',
        'at once',
        ['WORK_DATA', 'H#1', '1'],
        ['WORK_WARNING', 'H#1', '2'],
        ['WORK_STATUS', 'H#1', '3', '4'],
        ['WORK_COMPLETE', 'H#1', '5'],
        ['GRAB_JOB'],
      ],
    ],
    'WORK_FAIL reaches every client': [...start, ['worker', 'WORK_FAIL', 'H#1']],
    'a background job says nothing to its client': [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', ''],
      ['worker', 'GRAB_JOB'],
      ['worker', 'WORK_DATA', 'H#1', '1'],
      ['worker', 'WORK_STATUS', 'H#1', '1', '2'],
      ['client', 'GET_STATUS', 'H#1'],
      ['worker', 'WORK_COMPLETE', 'H#1', '1'],
      ['client', 'GET_STATUS', 'H#1'],
    ],
    'the status of a handle of 63 bytes that there is not': [
      ['client', 'GET_STATUS', 'h'.repeat(63)],
    ],
    'the status of a job from queued to done, and of no job': [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'GET_STATUS', 'H:nobody:7'],
      ['client', 'GET_STATUS', ''],
      ['client', 'SUBMIT_JOB', 'mail', '', ''],
      ['other', 'GET_STATUS', 'H#1'],
      ['worker', 'GRAB_JOB'],
      ['other', 'GET_STATUS', 'H#1'],
      ['worker', 'WORK_STATUS', 'H#1', '1', '2'],
      ['other', 'GET_STATUS', 'H#1'],
      ['worker', 'WORK_FAIL', 'H#1'],
      ['other', 'GET_STATUS', 'H#1'],
    ],
  }),
  ...['exceptions', 'EXCEPTIONS', 'Exceptions', 'exception', 'nonsense', ''].map(
    (option): Case => ({
      name: `OPTION_REQ ${JSON.stringify(option)}`,
      steps: [
        ['client', 'OPTION_REQ', option],
        ['client', 'OPTION_REQ', option],
      ],
    }),
  ),
]
