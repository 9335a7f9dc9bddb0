import type { Case } from '../script.ts'

const megabyte = Buffer.alloc(1024 * 1024, 'x')
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, at) => at))

export const framingCases: readonly Case[] = [
  { name: 'an echo of nothing', steps: [['client', 'ECHO_REQ', '']] },
  { name: 'an echo of every byte', steps: [['client', 'ECHO_REQ', everyByte]] },
  { name: 'an echo of 1 MiB', steps: [['client', 'ECHO_REQ', megabyte]] },
  {
    name: 'an echo byte by byte',
    steps: [['client', 'byte by byte', 'ECHO_REQ', 'one at a time']],
  },
  {
    name: 'a job byte by byte, through to its result',
    steps: [
      ['worker', 'byte by byte', 'CAN_DO', 'mail'],
      ['client', 'byte by byte', 'SUBMIT_JOB', 'mail', 'u', 'data'],
      ['worker', 'byte by byte', 'GRAB_JOB_UNIQ'],
      ['worker', 'byte by byte', 'WORK_STATUS', 'H#1', '1', '2'],
      ['worker', 'byte by byte', 'WORK_COMPLETE', 'H#1', 'result'],
    ],
  },
  {
    name: 'a packet in two halves, with other connections busy between them',
    steps: [
      ['client', 'part', '\0REQ\0\0\0\x10\0\0\0\x04ab'],
      ['other', 'ECHO_REQ', 'meanwhile'],
      ['client', 'raw', 'cd'],
    ],
  },
  {
    name: 'a connection that ends in the middle of a packet',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['worker', 'part', '\0REQ\0\0\0\x10\0\0\0\x04ab'],
      ['worker', 'close'],
      ['admin', 'text', 'status'],
    ],
  },
  {
    name: 'requests in one write are answered in their order',
    steps: [
      [
        ...(['client', 'at once'] as const),
        ['ECHO_REQ', '1'],
        ['SUBMIT_JOB_BG', 'mail', '', 'a'],
        ['ECHO_REQ', '2'],
        ['GET_STATUS', 'H:nobody:1'],
        ['OPTION_REQ', 'exceptions'],
        ['SUBMIT_JOB_BG', 'mail', 'u', 'b'],
        ['SUBMIT_JOB_BG', 'mail', 'u', 'c'],
        ['OPTION_REQ', 'nonsense'],
        ['GRAB_JOB'],
        ['ECHO_REQ', '3'],
      ],
    ],
  },
  {
    name: 'a worker says all it has to in one write',
    steps: [
      ['client', 'SUBMIT_JOB_BG', 'mail', '', 'a'],
      ['client', 'SUBMIT_JOB_BG', 'post', '', 'b'],
      [
        ...(['worker', 'at once'] as const),
        ['SET_CLIENT_ID', 'w'],
        ['CAN_DO', 'mail'],
        ['CAN_DO', 'post'],
        ['GRAB_JOB'],
        ['GRAB_JOB'],
        ['GRAB_JOB'],
        ['PRE_SLEEP'],
      ],
    ],
  },
  {
    name: 'a worker names a function between two grabs of one write',
    steps: [
      ['client', 'SUBMIT_JOB_BG', 'mail', '', 'a'],
      ['client', 'SUBMIT_JOB_BG', 'post', '', 'b'],
      [
        ...(['worker', 'at once'] as const),
        ['CAN_DO', 'mail'],
        ['GRAB_JOB'],
        ['CAN_DO', 'post'],
        ['GRAB_JOB'],
      ],
    ],
  },
  {
    name: 'a job of 1 MiB and its result of 1 MiB',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', megabyte],
      ['worker', 'GRAB_JOB'],
      ['worker', 'WORK_DATA', 'H#1', megabyte],
      ['worker', 'WORK_COMPLETE', 'H#1', megabyte],
    ],
  },
  {
    name: 'a job of every byte and its result of every byte',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', everyByte],
      ['worker', 'GRAB_JOB'],
      ['worker', 'WORK_DATA', 'H#1', everyByte],
      ['worker', 'WORK_WARNING', 'H#1', everyByte],
      ['worker', 'WORK_COMPLETE', 'H#1', everyByte],
    ],
  },
  {
    name: 'a job of nothing, with data, a warning and a result of nothing',
    steps: [
      ['worker', 'CAN_DO', 'mail'],
      ['client', 'SUBMIT_JOB', 'mail', '', ''],
      ['worker', 'GRAB_JOB_UNIQ'],
      ['worker', 'WORK_DATA', 'H#1', ''],
      ['worker', 'WORK_WARNING', 'H#1', ''],
      ['worker', 'WORK_STATUS', 'H#1', '', ''],
      ['client', 'GET_STATUS', 'H#1'],
      ['worker', 'WORK_COMPLETE', 'H#1', ''],
    ],
  },
  {
    name: 'a function name of 511 bytes',
    steps: [
      ['worker', 'CAN_DO', 'f'.repeat(511)],
      ['client', 'SUBMIT_JOB', 'f'.repeat(511), '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['worker', 'WORK_COMPLETE', 'H#1', 'y'],
    ],
  },
  {
    name: 'a function name of 512 bytes',
    steps: [
      ['worker', 'CAN_DO', 'f'.repeat(512)],
      ['client', 'SUBMIT_JOB', 'f'.repeat(512), '', 'x'],
      ['worker', 'GRAB_JOB'],
    ],
  },
  {
    name: 'a function name of 513 bytes',
    steps: [
      ['worker', 'CAN_DO', 'f'.repeat(513)],
      ['client', 'SUBMIT_JOB', 'f'.repeat(513), '', 'x'],
      ['worker', 'GRAB_JOB'],
    ],
  },
  {
    name: 'an empty function name',
    steps: [
      ['worker', 'CAN_DO', ''],
      ['client', 'SUBMIT_JOB', '', '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['admin', 'text', 'status'],
    ],
  },
  {
    name: 'a function name that is not UTF-8',
    steps: [
      ['worker', 'CAN_DO', 'm\xff'],
      ['client', 'SUBMIT_JOB', 'm\xff', '', 'x'],
      ['worker', 'GRAB_JOB'],
    ],
  },
  {
    name: 'a function name of two-byte characters',
    steps: [
      ['worker', 'CAN_DO', Buffer.from('envoyé')],
      ['client', 'SUBMIT_JOB', Buffer.from('envoyé'), '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['admin', 'text', 'status'],
    ],
  },
  {
    name: 'function names in capital and small letters',
    steps: [
      ['worker', 'CAN_DO', 'Mail'],
      ['client', 'SUBMIT_JOB_BG', 'mail', '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['admin', 'text', 'status'],
    ],
  },
  {
    name: 'a function name with blanks, dots, slashes and colons',
    steps: [
      ['worker', 'CAN_DO', 'a b.c/d::e'],
      ['client', 'SUBMIT_JOB', 'a b.c/d::e', '', 'x'],
      ['worker', 'GRAB_JOB'],
      ['admin', 'text', 'status'],
    ],
  },
]
