import type { Case, Step } from '../script.ts'

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
  {
    name: 'maxqueue counts running jobs, and lets in more when they are done',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 1'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['worker', 'GRAB_JOB'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '2'],
      ['worker', 'WORK_COMPLETE', 'H#1', ''],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '3'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', '1', '4'],
    ],
  },
  {
    name: 'maxqueue counts jobs that are due in the future',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 2'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', '1'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', '2'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', '3'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '4'],
    ],
  },
  {
    name: 'maxqueue is not held against a job that is there already',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 1'],
      ['client', 'SUBMIT_JOB', 'mail', 'u', '1'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', '2'],
      ['other', 'SUBMIT_JOB', 'mail', 'v', '3'],
    ],
  },
  {
    name: 'maxqueue is taken back',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 1'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '2'],
      ['admin', 'text', 'MAXQUEUE mail'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '3'],
    ],
  },
  {
    name: 'maxqueue of one function leaves another alone',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'maxqueue mail 1'],
      ['client', 'SUBMIT_JOB_BG', 'post', '', '1'],
      ['client', 'SUBMIT_JOB_BG', 'post', '', '2'],
    ],
  },
  {
    name: 'a queued job is cancelled',
    steps: [
      ['client', 'SUBMIT_JOB', 'mail', 'u', '1'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', '1'],
      ['admin', 'text', 'cancel job H#1'],
      ['client', 'GET_STATUS', 'H#1'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB'],
    ],
  },
  {
    name: 'a queued background job is cancelled, in capital letters',
    steps: [
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '2'],
      ['admin', 'raw', 'CANCEL JOB H#1\r\n'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'GRAB_JOB'],
    ],
  },
  {
    name: 'a job is cancelled twice',
    steps: [
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ['admin', 'text', 'cancel job H#1'],
      ['admin', 'text', 'cancel job H#1'],
    ],
  },
  {
    name: 'a running job is cancelled',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ['worker', 'GRAB_JOB'],
      ['admin', 'text', 'cancel job H#1'],
      ['client', 'GET_STATUS', 'H#1'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'late'],
      ['admin', 'text', 'status'],
    ],
  },
  {
    name: 'a job is cancelled after it is done',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'WORK_COMPLETE', 'H#1', ''],
      ['admin', 'text', 'cancel job H#1'],
    ],
  },
  {
    name: 'show jobs and show unique jobs, of every kind of job',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB_HIGH', 'mail', 'u1', '1'],
      ['client', 'SUBMIT_JOB_BG', 'mail', 'u2', '2'],
      ['client', 'SUBMIT_JOB_LOW', 'mail', '', '3'],
      ['client', 'SUBMIT_JOB_BG', 'post', '-', '4'],
      ['other', 'SUBMIT_JOB', 'post', 'u5', '5'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'GRAB_JOB'],
      ['admin', 'text', 'show jobs'],
      ['admin', 'text', 'show unique jobs'],
      ['other', 'close'],
      ['admin', 'text', 'show jobs'],
    ],
  },
  {
    name: 'create function with CRLF, then drop function',
    steps: [
      ['admin', 'raw', 'create function post\r\n'],
      ['admin', 'text', 'status'],
      ['admin', 'raw', 'drop function post\r\n'],
      ['admin', 'text', 'status'],
      ['admin', 'text', 'drop function post'],
    ],
  },
  {
    name: 'drop function that has only queued jobs',
    steps: [
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ['admin', 'text', 'drop function mail'],
      ['admin', 'text', 'status'],
      ['client', 'GET_STATUS', 'H#1'],
    ],
  },
  {
    name: 'drop function that has a running job',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', '1'],
      ['worker', 'GRAB_JOB'],
      ['admin', 'text', 'drop function mail'],
      ['admin', 'text', 'status'],
    ],
  },
  {
    name: 'drop function whose worker has left',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'drop function mail'],
      ['worker', 'CANT_DO', 'mail'],
      ['admin', 'text', 'DROP FUNCTION mail'],
      ['admin', 'text', 'status'],
      ['worker', 'CAN_DO', 'mail'],
      ['admin', 'text', 'status'],
    ],
  },
]
