import type { Case } from '../script.ts'

/** Clients that leave before their job is done. */
export const leavingCases: readonly Case[] = [
  {
    name: 'a client leaves: its queued job is not run',
    steps: [
      ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
      ['other', 'SUBMIT_JOB', 'mail', '', 'y'],
      ['client', 'close'],
      ['admin', 'text', 'show jobs'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'GRAB_JOB'],
      ['admin', 'text', 'status'],
    ],
  },
  {
    name: 'a client leaves: its running job ends without an error',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['client', 'close'],
      ['admin', 'text', 'show jobs'],
      ['worker', 'WORK_DATA', 'H#1', 'x'],
      ['worker', 'WORK_STATUS', 'H#1', '1', '2'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'x'],
      ['admin', 'text', 'status'],
    ],
  },
  {
    name: 'a client leaves, and then the worker of its job',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['worker2', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['client', 'close'],
      ['worker2', 'PRE_SLEEP'],
      ['worker', 'close'],
      ['admin', 'text', 'status'],
      ['worker2', 'GRAB_JOB'],
    ],
  },
  {
    name: 'the worker of a job leaves, and then its client',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'close'],
      ['client', 'close'],
      ['worker2', 'CAN_DO', 'mail'],
      ['worker2', 'PRE_SLEEP'],
      ['worker2', 'GRAB_JOB'],
      ['admin', 'text', 'status'],
    ],
  },
  {
    name: 'one of two clients of a job leaves',
    steps: [
      ['client', 'SUBMIT_JOB', 'mail', 'u', 'x'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', 'x'],
      ['client', 'close'],
      ['other', 'GET_STATUS_UNIQUE', 'u'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'done'],
    ],
  },
  {
    name: 'a client leaves a background job that it joined',
    steps: [
      ['other', 'SUBMIT_JOB_BG', 'mail', 'u', 'x'],
      ['client', 'SUBMIT_JOB', 'mail', 'u', 'x'],
      ['client', 'close'],
      ['admin', 'text', 'status'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB'],
    ],
  },
  {
    name: 'a background job joins a foreground job whose client then leaves',
    steps: [
      ['client', 'SUBMIT_JOB', 'mail', 'u', 'x'],
      ['other', 'SUBMIT_JOB_BG', 'mail', 'u', 'x'],
      ['client', 'close'],
      ['admin', 'text', 'status'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB'],
    ],
  },
  {
    name: 'a client takes up a job that another has left',
    steps: [
      ['client', 'SUBMIT_JOB', 'mail', 'u', 'first'],
      ['client', 'close'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', 'second'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB'],
    ],
  },
  {
    name: 'a client leaves its background jobs to the workers',
    steps: [
      ['client', 'SUBMIT_JOB_BG', 'mail', '', '1'],
      ['client', 'SUBMIT_JOB_HIGH_BG', 'mail', '', '2'],
      ['client', 'close'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'GRAB_JOB'],
    ],
  },
  {
    name: 'the client of one job is the worker of another',
    steps: [
      ['client', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', 'to myself'],
      ['client', 'GRAB_JOB'],
      ['client', 'WORK_DATA', 'H#1', '1'],
      ['client', 'WORK_COMPLETE', 'H#1', '2'],
      ['client', 'GET_STATUS', 'H#1'],
    ],
  },
]
