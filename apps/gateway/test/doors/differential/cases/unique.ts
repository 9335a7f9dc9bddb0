import { type Case, casesOf, running, type Step, submits, texts } from '../script.ts'

const works: readonly Step[] = [
  ['worker', 'CAN_DO', 'mail'],
  ['worker', 'GRAB_JOB_UNIQ'],
  ['worker', 'WORK_DATA', 'H#1', 'part'],
  ['worker', 'WORK_COMPLETE', 'H#1', 'done'],
  ['worker', 'GRAB_JOB_UNIQ'],
  ['admin', 'text', 'status'],
]

const submitting = [
  'SUBMIT_JOB',
  'SUBMIT_JOB_HIGH',
  'SUBMIT_JOB_LOW',
  'SUBMIT_JOB_BG',
  'SUBMIT_JOB_HIGH_BG',
  'SUBMIT_JOB_LOW_BG',
] as const

/** A second client joins the first one's job, whatever priority and kind it asks for. */
const joins: readonly Case[] = submitting.flatMap((first) =>
  (['SUBMIT_JOB', 'SUBMIT_JOB_HIGH', 'SUBMIT_JOB_LOW_BG'] as const).map((second) => ({
    name: `${second} with the unique id of a queued ${first}`,
    steps: [
      ['client', first, 'mail', 'u', 'first'],
      ['other', second, 'mail', 'u', 'second'],
      ...texts('prioritystatus', 'show unique jobs'),
      ['client', 'GET_STATUS_UNIQUE', 'u'],
      ...works,
    ],
  })),
)

const lengths: readonly Case[] = [63, 64, 65, 100].map((length) => ({
  name: `a unique id of ${length} bytes`,
  steps: [
    ['client', 'SUBMIT_JOB', 'mail', 'u'.repeat(length), 'x'],
    ['client', 'SUBMIT_JOB_BG', 'mail', 'u'.repeat(length), 'x'],
    ['client', 'SUBMIT_JOB_EPOCH', 'mail', 'u'.repeat(length), '1', 'x'],
    ['worker', 'CAN_DO', 'mail'],
    ['worker', 'GRAB_JOB_UNIQ'],
  ],
}))

export const uniqueCases: readonly Case[] = [
  ...joins,
  ...lengths,
  ...casesOf({
    'SUBMIT_REDUCE_JOB with a unique id of 65 bytes': [
      ['client', 'SUBMIT_REDUCE_JOB', 'mail', 'u'.repeat(65), 'r', '', 'x'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB_ALL'],
    ],
    'a client joins a running job and hears what comes from then on': [
      ...running('first', 'u'),
      ['worker', 'WORK_DATA', 'H#1', '1'],
      ['worker', 'WORK_STATUS', 'H#1', '1', '2'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', 'second'],
      ['client', 'GET_STATUS_UNIQUE', 'u'],
      ['worker', 'WORK_DATA', 'H#1', '2'],
      ['worker', 'WORK_WARNING', 'H#1', '3'],
      ['worker', 'WORK_STATUS', 'H#1', '2', '2'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'done'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', 'anew'],
      ['worker', 'GRAB_JOB'],
    ],
    'a client joins a running background job': [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB_BG', 'mail', 'u', 'first'],
      ['worker', 'GRAB_JOB'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', 'second'],
      ['client', 'GET_STATUS_UNIQUE', 'u'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'done'],
    ],
    'one client submits the same unique id twice': [
      ['client', 'SUBMIT_JOB', 'mail', 'u', 'first'],
      ['client', 'SUBMIT_JOB', 'mail', 'u', 'second'],
      ['client', 'GET_STATUS_UNIQUE', 'u'],
      ...works,
    ],
    'one unique id in two functions is two jobs': [
      ['client', 'SUBMIT_JOB_BG', 'mail', 'u', 'first'],
      ['client', 'SUBMIT_JOB_BG', 'post', 'u', 'second'],
      ...texts('status', 'show unique jobs'),
    ],
    'the status of a unique id is found in whatever function': [
      ['client', 'SUBMIT_JOB_BG', 'fax', 't', 'x'],
      ['client', 'SUBMIT_JOB', 'post', 'u', 'x'],
      ['other', 'SUBMIT_JOB_LOW_BG', 'mail', 'v', 'x'],
      ['worker', 'CAN_DO', 'post'],
      ['worker', 'GRAB_JOB_UNIQ'],
      ['other', 'GET_STATUS_UNIQUE', 't'],
      ['other', 'GET_STATUS_UNIQUE', 'u'],
      ['worker', 'GET_STATUS_UNIQUE', 'v'],
      ['worker', 'GET_STATUS_UNIQUE', 'w'],
    ],
    'jobs without a unique id are never one': [
      ...submits('same', 'same'),
      ['client', 'GET_STATUS_UNIQUE', ''],
      ['admin', 'text', 'status'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB_UNIQ'],
    ],
    'the unique id - makes jobs of equal payload one': [
      ['client', 'SUBMIT_JOB_BG', 'mail', '-', 'same'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '-', 'same'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '-', 'other'],
      ['client', 'SUBMIT_JOB_HIGH_BG', 'mail', '-', 'same'],
      ['client', 'GET_STATUS_UNIQUE', '-'],
      ['admin', 'text', 'status'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB_UNIQ'],
      ['worker', 'GRAB_JOB_ALL'],
    ],
    'the unique id - with an empty payload makes no jobs one': [
      ['client', 'SUBMIT_JOB_BG', 'mail', '-', ''],
      ['client', 'SUBMIT_JOB_BG', 'mail', '-', ''],
      ['admin', 'text', 'status'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB_UNIQ'],
    ],
    'the unique id - beside a job whose unique id is its payload': [
      ['client', 'SUBMIT_JOB_BG', 'mail', 'same', 'x'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '-', 'same'],
      ['admin', 'text', 'status'],
    ],
    'the status of a unique id, from queued to done': [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'GET_STATUS_UNIQUE', 'u'],
      ['client', 'SUBMIT_JOB', 'mail', 'u', ''],
      ['other', 'GET_STATUS_UNIQUE', 'u'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', ''],
      ['other', 'GET_STATUS_UNIQUE', 'u'],
      ['worker', 'GRAB_JOB'],
      ['other', 'GET_STATUS_UNIQUE', 'u'],
      ['worker', 'WORK_STATUS', 'H#1', '3', '4'],
      ['other', 'GET_STATUS_UNIQUE', 'u'],
      ['worker', 'WORK_COMPLETE', 'H#1', ''],
      ['other', 'GET_STATUS_UNIQUE', 'u'],
    ],
  }),
]
