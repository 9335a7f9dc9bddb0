import { type Case, casesOf, grabs, running, type Step, submits, takes, texts } from '../script.ts'

const fill: readonly Step[] = [
  ['client', 'SUBMIT_JOB_HIGH_BG', 'mail', '', '1'],
  ['client', 'SUBMIT_JOB_BG', 'mail', '', '2'],
  ['client', 'SUBMIT_JOB_LOW_BG', 'mail', '', '3'],
  ['client', 'SUBMIT_JOB', 'mail', '', '4'],
  ['client', 'SUBMIT_JOB_HIGH', 'mail', '', '5'],
  ['admin', 'text', 'prioritystatus'],
]

const limits: readonly Case[] = [
  '1',
  '2',
  '3',
  '0',
  '-1',
  '2 3 1',
  '1 2 3',
  '0 1 2',
  '3 0 0',
  'x',
  '',
].map((sizes) => ({
  name: `maxqueue mail ${sizes}, then jobs of every priority`,
  steps: [['worker', 'CAN_DO', 'mail'], ['admin', 'text', `maxqueue mail ${sizes}`], ...fill],
}))

export const queueCases: readonly Case[] = [
  ...limits,
  ...casesOf({
    'maxqueue counts running jobs, and lets in more when they are done': [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 1'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['worker', 'GRAB_JOB'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '2'],
      ['worker', 'WORK_COMPLETE', 'H#1', ''],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '3'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', '1', '4'],
    ],
    'maxqueue counts jobs that are due in the future': [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 2'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', '1'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', '2'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', '3'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '4'],
    ],
    'maxqueue is not held against a job that is there already': [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 1'],
      ['client', 'SUBMIT_JOB', 'mail', 'u', '1'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', '2'],
      ['other', 'SUBMIT_JOB', 'mail', 'v', '3'],
    ],
    'maxqueue is taken back': [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 1'],
      ...submits('1', '2'),
      ['admin', 'text', 'MAXQUEUE mail'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '3'],
    ],
    'maxqueue of one function leaves another alone': [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 1'],
      ['client', 'SUBMIT_JOB_BG', 'post', '', '1'],
      ['client', 'SUBMIT_JOB_BG', 'post', '', '2'],
    ],
    'a queued job is cancelled': [
      ['client', 'SUBMIT_JOB', 'mail', 'u', '1'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', '1'],
      ['admin', 'text', 'cancel job H#1'],
      ['client', 'GET_STATUS', 'H#1'],
      ...takes(),
    ],
    'a queued background job is cancelled, in capital letters': [
      ...submits('1', '2'),
      ['admin', 'raw', 'CANCEL JOB H#1\r\n'],
      ...takes(2),
    ],
    'a job is cancelled twice': [
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ...texts('cancel job H#1', 'cancel job H#1'),
    ],
    'a running job is cancelled': [
      ...running('1'),
      ['admin', 'text', 'cancel job H#1'],
      ['client', 'GET_STATUS', 'H#1'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'late'],
      ['admin', 'text', 'status'],
    ],
    'a job is cancelled after it is done': [
      ...running('1'),
      ['worker', 'WORK_COMPLETE', 'H#1', ''],
      ['admin', 'text', 'cancel job H#1'],
    ],
    'show jobs and show unique jobs, of every kind of job': [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB_HIGH', 'mail', 'u1', '1'],
      ['client', 'SUBMIT_JOB_BG', 'mail', 'u2', '2'],
      ['client', 'SUBMIT_JOB_LOW', 'mail', '', '3'],
      ['client', 'SUBMIT_JOB_BG', 'post', '-', '4'],
      ['other', 'SUBMIT_JOB', 'post', 'u5', '5'],
      ...grabs(2),
      ...texts('show jobs', 'show unique jobs'),
      ['other', 'close'],
      ['admin', 'text', 'show jobs'],
    ],
    'create function with CRLF, then drop function': [
      ['admin', 'raw', 'create function post\r\n'],
      ['admin', 'text', 'status'],
      ['admin', 'raw', 'drop function post\r\n'],
      ...texts('status', 'drop function post'),
    ],
    'drop function that has only queued jobs': [
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ...texts('drop function mail', 'status'),
      ['client', 'GET_STATUS', 'H#1'],
    ],
    'drop function that has a running job': [
      ...running('1'),
      ...texts('drop function mail', 'status'),
    ],
    'drop function whose worker has left': [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'drop function mail'],
      ['worker', 'CANT_DO', 'mail'],
      ...texts('DROP FUNCTION mail', 'status'),
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'status'],
    ],
  }),
]
