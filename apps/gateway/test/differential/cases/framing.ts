import { casesOf, type Case } from '../script.ts'

const megabyte = Buffer.alloc(1024 * 1024, 'x')
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, at) => at))

export const framingCases: readonly Case[] = casesOf({
  'an echo of nothing': [['client', 'ECHO_REQ', '']],
  'an echo of every byte': [['client', 'ECHO_REQ', everyByte]],
  'an echo of 1 MiB': [['client', 'ECHO_REQ', megabyte]],
  'an echo byte by byte': [['client', 'byte by byte', 'ECHO_REQ', 'one at a time']],
  'a job byte by byte, through to its result': [
    ['worker', 'byte by byte', 'CAN_DO', 'mail'],
    ['client', 'byte by byte', 'SUBMIT_JOB', 'mail', 'u', 'data'],
    ['worker', 'byte by byte', 'GRAB_JOB_UNIQ'],
    ['worker', 'byte by byte', 'WORK_STATUS', 'H#1', '1', '2'],
    ['worker', 'byte by byte', 'WORK_COMPLETE', 'H#1', 'result'],
  ],
  'a packet in two halves, with other connections busy between them': [
    ['client', 'part', '\0REQ\0\0\0\x10\0\0\0\x04ab'],
    ['other', 'ECHO_REQ', 'meanwhile'],
    ['client', 'raw', 'cd'],
  ],
  'a connection that ends in the middle of a packet': [
    ['worker', 'CAN_DO', 'mail'],
    ['worker', 'part', '\0REQ\0\0\0\x10\0\0\0\x04ab'],
    ['worker', 'close'],
    ['admin', 'text', 'status'],
  ],
  'requests in one write are answered in their order': [
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
  'a worker says all it has to in one write': [
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
  'a worker names a function between two grabs of one write': [
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
  'a job of 1 MiB and its result of 1 MiB': [
    ['worker', 'CAN_DO', 'mail'],
    ['client', 'SUBMIT_JOB', 'mail', '', megabyte],
    ['worker', 'GRAB_JOB'],
    ['worker', 'WORK_DATA', 'H#1', megabyte],
    ['worker', 'WORK_COMPLETE', 'H#1', megabyte],
  ],
  'a job of every byte and its result of every byte': [
    ['worker', 'CAN_DO', 'mail'],
    ['client', 'SUBMIT_JOB', 'mail', '', everyByte],
    ['worker', 'GRAB_JOB'],
    ['worker', 'WORK_DATA', 'H#1', everyByte],
    ['worker', 'WORK_WARNING', 'H#1', everyByte],
    ['worker', 'WORK_COMPLETE', 'H#1', everyByte],
  ],
  'a job of nothing, with data, a warning and a result of nothing': [
    ['worker', 'CAN_DO', 'mail'],
    ['client', 'SUBMIT_JOB', 'mail', '', ''],
    ['worker', 'GRAB_JOB_UNIQ'],
    ['worker', 'WORK_DATA', 'H#1', ''],
    ['worker', 'WORK_WARNING', 'H#1', ''],
    ['worker', 'WORK_STATUS', 'H#1', '', ''],
    ['client', 'GET_STATUS', 'H#1'],
    ['worker', 'WORK_COMPLETE', 'H#1', ''],
  ],
  'a function name of 511 bytes': [
    ['worker', 'CAN_DO', 'f'.repeat(511)],
    ['client', 'SUBMIT_JOB', 'f'.repeat(511), '', 'x'],
    ['worker', 'GRAB_JOB'],
    ['worker', 'WORK_COMPLETE', 'H#1', 'y'],
  ],
  'a function name of 512 bytes': [
    ['worker', 'CAN_DO', 'f'.repeat(512)],
    ['client', 'SUBMIT_JOB', 'f'.repeat(512), '', 'x'],
    ['worker', 'GRAB_JOB'],
  ],
  'a function name of 513 bytes': [
    ['worker', 'CAN_DO', 'f'.repeat(513)],
    ['client', 'SUBMIT_JOB', 'f'.repeat(513), '', 'x'],
    ['worker', 'GRAB_JOB'],
  ],
  'an empty function name': [
    ['worker', 'CAN_DO', ''],
    ['client', 'SUBMIT_JOB', '', '', 'x'],
    ['worker', 'GRAB_JOB'],
    ['admin', 'text', 'status'],
  ],
  'a function name that is not UTF-8': [
    ['worker', 'CAN_DO', 'm\xff'],
    ['client', 'SUBMIT_JOB', 'm\xff', '', 'x'],
    ['worker', 'GRAB_JOB'],
  ],
  'a function name of two-byte characters': [
    ['worker', 'CAN_DO', Buffer.from('envoyé')],
    ['client', 'SUBMIT_JOB', Buffer.from('envoyé'), '', 'x'],
    ['worker', 'GRAB_JOB'],
    ['admin', 'text', 'status'],
  ],
  'function names in capital and small letters': [
    ['worker', 'CAN_DO', 'Mail'],
    ['client', 'SUBMIT_JOB_BG', 'mail', '', 'x'],
    ['worker', 'GRAB_JOB'],
    ['admin', 'text', 'status'],
  ],
  'a function name with blanks, dots, slashes and colons': [
    ['worker', 'CAN_DO', 'a b.c/d::e'],
    ['client', 'SUBMIT_JOB', 'a b.c/d::e', '', 'x'],
    ['worker', 'GRAB_JOB'],
    ['admin', 'text', 'status'],
  ],
})
