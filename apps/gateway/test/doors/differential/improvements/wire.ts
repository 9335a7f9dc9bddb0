import type { Improvements } from '../improvements.ts'

/** Bytes, names and arguments. */
export const wireImprovements: Improvements = {
  'the text line "maxqueue mail 1 2 3 4"': {
    reason: 'Surplus numbers are ignored, as for other commands. gearmand ends the connection.',
    gearmand: ['2 admin CLOSED'],
    crossgear: ['2 admin "OK\\r\\n"', '3 admin "mail\\t0\\t0\\t1\\n"', '3 admin ".\\n"'],
  },
  'the text line "create function post"': {
    reason: 'A line that ends in LF alone keeps its last letter, as for all other commands.',
    gearmand: ['3 admin "mail\\t0\\t0\\t1\\n"', '3 admin "pos\\t0\\t0\\t0\\n"', '3 admin ".\\n"'],
    crossgear: ['3 admin "mail\\t0\\t0\\t1\\n"', '3 admin "post\\t0\\t0\\t0\\n"', '3 admin ".\\n"'],
  },
  'the text line "create function \\r"': {
    reason: 'A function without a name would not be visible in any list of functions.',
    gearmand: [
      '2 admin "OK\\r\\n"',
      '3 admin "\\t0\\t0\\t0\\n"',
      '3 admin "mail\\t0\\t0\\t1\\n"',
      '3 admin ".\\n"',
    ],
    crossgear: [
      '2 admin "ERR INVALID_ARGUMENTS An+incomplete+set+of+arguments+was+sent+to+this+command+create\\r\\n"',
      '3 admin "mail\\t0\\t0\\t1\\n"',
      '3 admin ".\\n"',
    ],
  },
  'the text line "create function pÿ\\r"': {
    reason:
      'Function names are shared with protocols whose names are text, so bytes that are not UTF-8 are refused.',
    gearmand: [
      '2 admin "OK\\r\\n"',
      '3 admin "mail\\t0\\t0\\t1\\n"',
      '3 admin "pÿ\\t0\\t0\\t0\\n"',
      '3 admin ".\\n"',
    ],
    crossgear: [
      '2 admin "ERR INVALID_ARGUMENTS An+incomplete+set+of+arguments+was+sent+to+this+command+create\\r\\n"',
      '3 admin "mail\\t0\\t0\\t1\\n"',
      '3 admin ".\\n"',
    ],
  },
  'the text line "shutdown"': {
    reason: 'The command of older servers works, from this machine only.',
    gearmand: ['2 admin "ERR UNKNOWN_COMMAND Unknown+server+commandshutdown\\r\\n"'],
    crossgear: ['2 admin "OK\\r\\n"'],
  },
  'the text line "shutdown graceful"': {
    reason: 'The same; the server ends when no job is left.',
    gearmand: ['2 admin "ERR UNKNOWN_COMMAND Unknown+server+commandshutdown\\r\\n"'],
    crossgear: ['2 admin "OK\\r\\n"'],
  },
  'packets that are said to be larger than 64 MiB': {
    reason: 'A packet beyond the limit is refused by its header. gearmand waits for all of it.',
    gearmand: [],
    crossgear: [
      '1 client-68157440 CLOSED',
      '3 client-2147483647 CLOSED',
      '5 client-4294967295 CLOSED',
    ],
  },
  'packets that are shorter than their arguments': {
    reason:
      'A packet that cannot be read is refused at once. gearmand waits for bytes that never come, or takes those of the next packet.',
    gearmand: [],
    crossgear: [
      '1 client-SUBMIT_JOB CLOSED',
      '3 client-JOB_ASSIGN CLOSED',
      '5 client-WORK_STATUS CLOSED',
      '7 client-WORK_COMPLETE ERROR JOB_NOT_FOUND|Job given in work result not found',
      '9 client-SUBMIT_JOB_BG CLOSED',
      '11 client-ERROR CLOSED',
      '13 client-STATUS_RES CLOSED',
      '15 client-SUBMIT_JOB_HIGH CLOSED',
      '17 client-CAN_DO_TIMEOUT CLOSED',
      '19 client-WORK_EXCEPTION ERROR JOB_NOT_FOUND|An exception was received for a job that does not exist',
      '21 client-WORK_DATA ERROR JOB_NOT_FOUND|Job does not exist on server',
      '23 client-WORK_WARNING ERROR JOB_NOT_FOUND|Job does not exist on server',
      '25 client-JOB_ASSIGN_UNIQ CLOSED',
      '27 client-SUBMIT_JOB_HIGH_BG CLOSED',
      '29 client-SUBMIT_JOB_LOW CLOSED',
      '31 client-SUBMIT_JOB_LOW_BG CLOSED',
      '33 client-SUBMIT_JOB_SCHED CLOSED',
      '35 client-SUBMIT_JOB_EPOCH CLOSED',
      '37 client-SUBMIT_REDUCE_JOB CLOSED',
      '39 client-SUBMIT_REDUCE_JOB_BACKGROUND CLOSED',
      '41 client-JOB_ASSIGN_ALL CLOSED',
      '43 client-STATUS_RES_UNIQUE CLOSED',
    ],
  },
  'command 0x80000000 ends the connection': {
    reason: 'The packet ends its own connection. In gearmand it ends the server with all jobs.',
    gearmand: ['2 other CLOSED', '4 admin CLOSED'],
    crossgear: ['3 other ECHO_RES the server is there', '4 admin "OK <version>\\n"'],
  },
  'an echo before command 43 ends the connection': {
    reason: 'Requests before the bad packet are answered before the connection ends.',
    gearmand: ['2 client CLOSED'],
    crossgear: ['2 client ECHO_RES x', '2 client CLOSED'],
  },
  'a function name of 513 bytes': {
    reason:
      'Function names are keys of the store and have at most 512 bytes. Client libraries stop at 511.',
    gearmand: ['2 client JOB_CREATED H#1', '3 worker JOB_ASSIGN <519 bytes, 31a0c4984713>'],
    crossgear: [
      '2 client ERROR ARGUMENT_TOO_LARGE|Function name is over 512 bytes',
      '3 worker NO_JOB',
    ],
  },
  'an empty function name': {
    reason: 'A function without a name would not be visible in any list of functions.',
    gearmand: [
      '2 client JOB_CREATED H#1',
      '3 worker JOB_ASSIGN H#1||x',
      '4 admin "\\t1\\t1\\t1\\n"',
      '4 admin ".\\n"',
    ],
    crossgear: [
      '2 client ERROR INVALID_FUNCTION_NAME|Function name is empty',
      '3 worker NO_JOB',
      '4 admin ".\\n"',
    ],
  },
  'a function name that is not UTF-8': {
    reason: 'Function names are shared with protocols whose names are text.',
    gearmand: ['2 client JOB_CREATED H#1', '3 worker JOB_ASSIGN H#1|m\\xff|x'],
    crossgear: [
      '2 client ERROR INVALID_FUNCTION_NAME|Function name is not UTF-8',
      '3 worker NO_JOB',
    ],
  },
  'a unique id of 64 bytes': {
    reason:
      'An id of the full length works like any other, and workers get all of it. gearmand cuts off its last byte.',
    gearmand: [
      '2 client JOB_CREATED H#2',
      '3 client JOB_CREATED H#3',
      '5 worker JOB_ASSIGN_UNIQ H#1|mail|uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu||x',
    ],
    crossgear: [
      '2 client JOB_CREATED H#1',
      '3 client JOB_CREATED H#1',
      '5 worker JOB_ASSIGN_UNIQ H#1|mail|uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu|x',
    ],
  },
  'SUBMIT_REDUCE_JOB with a unique id of 65 bytes': {
    reason: 'An id that is too long is refused in every packet. gearmand cuts it in this one.',
    gearmand: [
      '1 client JOB_CREATED H#1',
      '3 worker JOB_ASSIGN_ALL H#1|mail|uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu|r|r|x',
    ],
    crossgear: ['1 client ERROR ARGUMENT_TOO_LARGE|Unique value too large', '3 worker NO_JOB'],
  },
  'SET_CLIENT_ID of nothing': {
    reason: 'All lines of `workers` have the same columns.',
    gearmand: [
      '2 admin "<fd> 127.0.0.1  :\\n"',
      '2 admin "<fd> 127.0.0.1 - :\\n"',
      '2 admin ".\\n"',
    ],
    crossgear: [
      '2 admin "<fd> 127.0.0.1 - :\\n"',
      '2 admin "<fd> 127.0.0.1 - :\\n"',
      '2 admin ".\\n"',
    ],
  },
  SUBMIT_JOB_SCHED: {
    reason:
      'The packet is supported: the job runs at the next minute that matches. A schedule that never matches is refused.',
    gearmand: [
      '1 client ERROR INVALID_COMMAND|Command not expected',
      '3 admin ".\\n"',
      '4 client ERROR INVALID_COMMAND|Command not expected',
    ],
    crossgear: [
      '1 client JOB_CREATED H#1',
      '3 admin "u\\n"',
      '3 admin ".\\n"',
      '4 client ERROR INVALID_ARGUMENT|No moment matches the schedule',
    ],
  },
}
