import { type Case, casesOf, grabs, sleeps, type Step, texts } from '../script.ts'

const nowAndPast = ['1', '0', '-5', 'soon', '', '1 day', '1000000000']

const due: readonly Case[] = nowAndPast.map((epoch) => ({
  name: `SUBMIT_JOB_EPOCH at ${JSON.stringify(epoch)}`,
  steps: [
    ...sleeps(),
    ['client', 'SUBMIT_JOB_EPOCH', 'mail', 'u', epoch, 'x'],
    ...texts('status', 'show jobs'),
    ['worker', 'GRAB_JOB_UNIQ'],
    ['worker', 'WORK_COMPLETE', 'H#1', 'y'],
  ],
}))

const reducers: readonly Case[] = (
  ['SUBMIT_REDUCE_JOB', 'SUBMIT_REDUCE_JOB_BACKGROUND'] as const
).flatMap((name) =>
  (['GRAB_JOB', 'GRAB_JOB_UNIQ', 'GRAB_JOB_ALL'] as const).map((grab) => ({
    name: `${name}, taken with ${grab}`,
    steps: [
      ['client', name, 'mail', 'u', 'sum', '0', 'data'],
      ['client', name, 'mail', '', '', '', 'data'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', grab],
      ['worker', grab],
      ['worker', 'WORK_DATA', 'H#1', 'part'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'done'],
      ['worker', 'WORK_COMPLETE', 'H#2', 'done'],
    ] satisfies Step[],
  })),
)

export const specialCases: readonly Case[] = [
  ...due,
  ...reducers,
  ...[64, 65].map((length): Case => ({
    name: `a reducer of ${length} bytes`,
    steps: [
      ['client', 'SUBMIT_REDUCE_JOB', 'mail', 'u', 'r'.repeat(length), '0', 'data'],
      ['client', 'SUBMIT_REDUCE_JOB_BACKGROUND', 'mail', 'v', 'r'.repeat(length), '0', 'data'],
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'GRAB_JOB_ALL'],
    ],
  })),
  ...casesOf({
    'SUBMIT_JOB_EPOCH in the future': [
      ...sleeps(),
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', 'u', '4000000000', 'x'],
      ['client', 'GET_STATUS', 'H#1'],
      ...texts('status', 'prioritystatus', 'show jobs'),
      ['worker', 'GRAB_JOB'],
    ],
    'a job behind one that is due in the future': [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', 'later'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', 'now'],
      ...grabs(2),
    ],
    'a job that is due in the future is joined and cancelled': [
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', 'u', '4000000000', 'x'],
      ['other', 'SUBMIT_JOB', 'mail', 'u', 'y'],
      ['admin', 'text', 'cancel job H#1'],
    ],
    SUBMIT_JOB_SCHED: [
      ['client', 'SUBMIT_JOB_SCHED', 'mail', 'u', '0', '0', '1', '1', '0', 'x'],
      ['client', 'ECHO_REQ', 'still here'],
      ['admin', 'text', 'show unique jobs'],
      ['client', 'SUBMIT_JOB_SCHED', 'mail', 'u', '0', '0', '31', '2', '', 'x'],
      ['client', 'ECHO_REQ', 'still here'],
    ],
    'a sleeper and a job that falls due': [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB_EPOCH', 'mail', '', 'now+2', 'x'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'PRE_SLEEP'],
      ['worker', 'hears something'],
      ['worker', 'GRAB_JOB'],
    ],
  }),
]
