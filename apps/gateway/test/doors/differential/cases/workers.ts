import {
  canDo,
  type Case,
  casesOf,
  grabs,
  running,
  type Step,
  submits,
  takes,
  texts,
} from '../script.ts'
import { withoutLastNul } from './results.ts'

/** Command 0 ends the connection. */
const badPacket = '\0REQ\0\0\0\0\0\0\0\0'

/** A worker that has the only job, and another that could take it. */
const handedOver: readonly Step[] = [
  ['worker', 'CAN_DO', 'mail'],
  ['worker2', 'CAN_DO', 'mail'],
  ['client', 'SUBMIT_JOB', 'mail', 'u', 'x'],
  ['worker', 'GRAB_JOB'],
  ['worker', 'WORK_STATUS', 'H#1', '1', '2'],
  ['worker2', 'PRE_SLEEP'],
]

const takenOver: readonly Step[] = [
  ['client', 'GET_STATUS', 'H#1'],
  ...texts('show jobs', 'status'),
  ['worker2', 'GRAB_JOB_UNIQ'],
  ['worker2', 'WORK_COMPLETE', 'H#1', 'done'],
  ['admin', 'text', 'status'],
]

const losses: readonly Step[] = [
  ['worker', 'close'],
  ['worker', 'CANT_DO', 'mail'],
  ['worker', 'RESET_ABILITIES'],
  ['worker', 'raw', badPacket],
]

const lost: readonly Case[] = losses.flatMap((loss) =>
  [0, 1, 2].map((retries) => ({
    name: `a worker is lost with a job (${loss[1]}), -j ${retries}`,
    flags: { retries },
    steps: [...handedOver, loss, ...takenOver],
  })),
)

const strangers: readonly Step[] = [
  ['stranger', 'WORK_COMPLETE', 'H#1', 'x'],
  ['stranger', 'WORK_FAIL', 'H#1'],
  ['stranger', 'WORK_STATUS', 'H#1', '1', '2'],
  ['stranger', 'WORK_DATA', 'H#1', 'x'],
  ['stranger', 'WORK_WARNING', 'H#1', 'x'],
  ['stranger', 'WORK_EXCEPTION', 'H#1', 'x'],
]

/** Replies about a job that is not this worker's: not yet, another's, or over. */
const notOwned: readonly Case[] = strangers.map((word) => ({
  name: `${word[1]} for a job that is not its`,
  steps: [
    ['worker', 'CAN_DO', 'mail'],
    ['stranger', 'CAN_DO', 'mail'],
    ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
    word,
    ['worker', 'GRAB_JOB'],
    word,
    ['worker', 'WORK_COMPLETE', 'H#1', 'done'],
    word,
    ['worker', 'WORK_FAIL', 'H#1'],
    ['worker', 'WORK_COMPLETE', 'H:nobody:1', ''],
    ['worker', 'WORK_EXCEPTION', 'nonsense', ''],
    ['worker', 'WORK_DATA', '', ''],
  ],
}))

const doubleEnds: readonly Case[] = (
  ['WORK_FAIL', 'WORK_COMPLETE', 'WORK_EXCEPTION'] as const
).flatMap((first) =>
  (['WORK_FAIL', 'WORK_COMPLETE', 'WORK_EXCEPTION'] as const).map((second) => ({
    name: `${first}, then ${second}`,
    steps: [
      ...running(),
      ['worker', first, 'H#1', ...(first === 'WORK_FAIL' ? [] : ['1'])],
      ['worker', second, 'H#1', ...(second === 'WORK_FAIL' ? [] : ['2'])],
    ] satisfies Step[],
    normalise: withoutLastNul,
  })),
)

export const workerCases: readonly Case[] = [
  ...lost,
  ...notOwned,
  ...doubleEnds,
  ...casesOf({
    'a worker is lost again and again, -j 2': {
      flags: { retries: 2 },
      steps: [
        ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
        ['other', 'SUBMIT_JOB_BG', 'mail', '', 'y'],
        ...takes(),
        ['worker', 'close'],
        ['admin', 'text', 'show jobs'],
        ...takes(2, 'worker2'),
        ['worker2', 'close'],
        ['admin', 'text', 'show jobs'],
        ...takes(1, 'worker3'),
        ['worker3', 'close'],
        ...texts('show jobs', 'status'),
      ],
    },
    'a lost job goes to the end of its priority': [
      ...submits('1', '2'),
      ['client', 'SUBMIT_JOB_LOW_BG', 'mail', '', 'low'],
      ...takes(),
      ['worker', 'close'],
      ...takes(3, 'worker2'),
    ],
    'a worker with several jobs is lost': [
      ...canDo('worker', 'mail', 'post'),
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ['client', 'SUBMIT_JOB', 'post', '', '2'],
      ['client', 'SUBMIT_JOB_HIGH_BG', 'post', '', '3'],
      ...grabs(3),
      ['admin', 'text', 'status'],
      ['worker', 'close'],
      ['admin', 'text', 'prioritystatus'],
    ],
  }),
  ...losses.map((loss): Case => ({
    name: `the jobs of a lost worker (${loss[1]}) go back, the last one first`,
    steps: [
      ...submits('a0', 'a1', 'a2', 'a3', 'a4'),
      ['client', 'SUBMIT_JOB_HIGH_BG', 'mail', '', 'b0'],
      ['client', 'SUBMIT_JOB_HIGH_BG', 'mail', '', 'b1'],
      ...takes(5),
      loss,
      ...takes(7, 'worker2'),
    ],
  })),
  ...casesOf({
    'CANT_DO of one function leaves jobs of the other alone': [
      ...canDo('worker', 'mail', 'post'),
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ['client', 'SUBMIT_JOB', 'post', '', '2'],
      ...grabs(2),
      ['worker', 'CANT_DO', 'mail'],
      ['admin', 'text', 'status'],
      ['worker', 'WORK_COMPLETE', 'H#2', 'post'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'mail'],
      ['worker', 'CANT_DO', 'unknown'],
    ],
    'a worker holds many jobs and ends them in any order': [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ['client', 'SUBMIT_JOB', 'mail', '', '2'],
      ['other', 'SUBMIT_JOB', 'mail', '', '3'],
      ...grabs(3),
      ['worker', 'WORK_COMPLETE', 'H#3', '3'],
      ['worker', 'WORK_FAIL', 'H#1'],
      ['worker', 'WORK_COMPLETE', 'H#2', '2'],
    ],
    'CAN_DO for a function that it can do already': [
      ...canDo('worker', 'mail', 'mail'),
      ['worker', 'CAN_DO_TIMEOUT', 'mail', '0'],
      ...texts('status', 'workers'),
      ['worker', 'CANT_DO', 'mail'],
      ['admin', 'text', 'status'],
    ],
    'SET_CLIENT_ID is listed, up to 127 bytes of it': [
      ['worker', 'SET_CLIENT_ID', 'me'],
      ...canDo('worker', 'mail', 'post'),
      ['worker2', 'SET_CLIENT_ID', 'x'.repeat(127)],
      ['worker3', 'SET_CLIENT_ID', 'y'.repeat(128)],
      ['worker5', 'SET_CLIENT_ID', 'a b'],
      ['admin', 'text', 'workers'],
      ['worker', 'SET_CLIENT_ID', 'renamed'],
      ['admin', 'text', 'workers'],
    ],
    'SET_CLIENT_ID of nothing': [
      ['worker', 'SET_CLIENT_ID', ''],
      ['admin', 'text', 'workers'],
    ],
    'workers lists functions, the last named first, and clients': {
      oneNode: 'a node lists the connections that it has',
      steps: [
        ...canDo('worker', 'a', 'b'),
        ['worker', 'CAN_DO_TIMEOUT', 'c', '1000'],
        ['client', 'SUBMIT_JOB', 'a', '', ''],
        ['admin', 'text', 'workers'],
        ['worker', 'CANT_DO', 'b'],
        ['admin', 'text', 'workers'],
      ],
    },
    'a worker that outstays CAN_DO_TIMEOUT': [
      ['worker', 'CAN_DO_TIMEOUT', 'mail', '1'],
      ['worker2', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['worker2', 'PRE_SLEEP'],
      ['worker2', 'hears something'],
      ...texts('show jobs', 'status'),
      ['worker2', 'GRAB_JOB'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'late'],
      ['worker', 'WORK_DATA', 'H#1', 'late'],
      ['worker2', 'WORK_COMPLETE', 'H#1', 'in time'],
    ],
    'a worker that outstays CAN_DO_TIMEOUT, and ends and asks in one write': [
      ['worker', 'CAN_DO_TIMEOUT', 'mail', '1000'],
      ['worker2', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', 'u', 'x'],
      ['worker', 'GRAB_JOB_ALL'],
      ['worker2', 'PRE_SLEEP'],
      ['worker2', 'hears something'],
      [
        'worker',
        'at once',
        ['WORK_DATA', 'H#1', 'late'],
        ['WORK_COMPLETE', 'H#1', 'late'],
        ['GRAB_JOB_ALL'],
      ],
      ['worker', 'at once', ['WORK_COMPLETE', 'H#1', 'in time'], ['GRAB_JOB_ALL']],
    ],
    'a worker that outstays CAN_DO_TIMEOUT, -j 1': {
      flags: { retries: 1 },
      steps: [
        ['worker', 'CAN_DO_TIMEOUT', 'mail', '900'],
        ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
        ['worker', 'GRAB_JOB'],
        ['client', 'hears something'],
        ['admin', 'text', 'status'],
        ['worker', 'WORK_COMPLETE', 'H#1', 'late'],
      ],
    },
    'PRE_SLEEP ends the time of CAN_DO_TIMEOUT for the jobs that a worker has': {
      flags: { retries: 1 },
      steps: [
        ['worker', 'CAN_DO_TIMEOUT', 'mail', '1000'],
        ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
        ['worker', 'GRAB_JOB'],
        ['worker', 'PRE_SLEEP'],
        ['worker2', 'CAN_DO_TIMEOUT', 'post', '2500'],
        ['other', 'SUBMIT_JOB', 'post', '', 'y'],
        ['worker2', 'GRAB_JOB'],
        // The second job is lost in its time, long after that of the first.
        ['other', 'hears something'],
        ['admin', 'text', 'show jobs'],
        ['worker', 'WORK_COMPLETE', 'H#1', 'late'],
      ],
    },
  }),
  ...['0', '-1', 'soon', ''].map((timeout): Case => ({
    name: `CAN_DO_TIMEOUT of ${JSON.stringify(timeout)}`,
    steps: [
      ['worker', 'CAN_DO_TIMEOUT', 'mail', timeout],
      ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'done'],
    ],
  })),
]
