import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AdminCommand,
  adminReplies,
  formatPid,
  formatPriorityStatus,
  formatShowJobs,
  formatShowUniqueJobs,
  formatStatus,
  formatVerbose,
  formatVersion,
  formatWorkers,
  parseAdminLine,
} from '../src/index.ts'

const queue = (high: number, normal: number, low: number): AdminCommand => ({
  command: 'maxqueue',
  function: 'f',
  high,
  normal,
  low,
})

const understood: readonly [string, AdminCommand][] = [
  ['version', { command: 'version' }],
  ['VERSION', { command: 'version' }],
  ['Version extra words', { command: 'version' }],
  ['verbose', { command: 'verbose' }],
  ['getpid', { command: 'getpid' }],
  ['status  ', { command: 'status' }],
  ['prioritystatus', { command: 'prioritystatus' }],
  ['workers', { command: 'workers' }],
  ['show jobs', { command: 'show jobs' }],
  ['Show  JOBS', { command: 'show jobs' }],
  ['SHOW UNIQUE JOBS', { command: 'show unique jobs' }],
  ['show maxqueue', { command: 'show maxqueue' }],
  ['cancel job H:lap:1', { command: 'cancel job', handle: 'H:lap:1' }],
  ['cancel Job H:lap:1', { command: 'cancel job', handle: 'H:lap:1' }],
  ['maxqueue f', queue(0, 0, 0)],
  ['maxqueue  f  5', queue(5, 5, 5)],
  ['maxqueue f ', queue(0, 0, 0)],
  ['maxqueue f 5 6', queue(0, 0, 0)],
  ['maxqueue f 5 6 7', queue(5, 6, 7)],
  ['maxqueue f 5 6 7 8', queue(5, 6, 7)],
  ['maxqueue f -1', queue(0, 0, 0)],
  ['maxqueue f abc', queue(0, 0, 0)],
  ['maxqueue f 0 -1 2x', queue(0, 0, 2)],
  ['create function Foo', { command: 'create function', function: 'Foo' }],
  ['drop Function Foo', { command: 'drop function', function: 'Foo' }],
  ['shutdown', { command: 'shutdown', graceful: false }],
  ['shutdown Graceful', { command: 'shutdown', graceful: true }],
  ['version\0junk', { command: 'version' }],
]

const missing = 'ERR INVALID_ARGUMENTS An+incomplete+set+of+arguments+was+sent+to+this+command+'
const unknown = 'ERR UNKNOWN_COMMAND Unknown+server+command'

const refused: readonly [string, string][] = [
  ['', `${unknown}\r\n`],
  [' ', `${unknown}\r\n`],
  ['  status', `${unknown}\r\n`],
  ['\tstatus', `${unknown}\tstatus\r\n`],
  ['show\tjobs', `${unknown}show\tjobs\r\n`],
  ['FOO bar', `${unknown}FOO\r\n`],
  ['constructor', `${unknown}constructor\r\n`],
  ['foo\0bar', `${unknown}foo\r\n`],
  ['show', `${unknown}show\r\n`],
  ['show foo', 'ERR UNKNOWN_SHOW_ARGUMENTS\r\n'],
  ['show unique', 'ERR UNKNOWN_SHOW_ARGUMENTS\r\n'],
  ['show jobs extra', 'ERR UNKNOWN_SHOW_ARGUMENTS\r\n'],
  ['show maxqueue f', 'ERR UNKNOWN_SHOW_ARGUMENTS\r\n'],
  ['cancel', `${unknown}cancel\r\n`],
  ['cancel job', `${unknown}cancel\r\n`],
  ['cancel foo bar', 'ERR UNKNOWN_ERROR\r\n'],
  ['cancel job H:lap:1 extra', 'ERR UNKNOWN_ERROR\r\n'],
  ['maxqueue', `${missing}maxqueue\r\n`],
  ['MaxQueue', `${missing}MaxQueue\r\n`],
  ['create', `${missing}create\r\n`],
  ['create function', `${missing}create\r\n`],
  ['create foo bar', `${missing}create\r\n`],
  ['create function a b', `${missing}create\r\n`],
  ['drop function', `${missing}drop\r\n`],
  ['shutdown now', `${unknown}shutdown\r\n`],
  ['shutdown graceful now', `${unknown}shutdown\r\n`],
  ['show jobs ', 'ERR UNKNOWN_SHOW_ARGUMENTS\r\n'],
  ['create function a ', `${missing}create\r\n`],
]

describe('an admin line', () => {
  test.each(understood)('%j is understood', (line, command) => {
    expect(parseAdminLine(line)).toEqual(command)
  })

  test.each(refused)('%j is refused with its reply', (line, reply) => {
    expect(parseAdminLine(line)).toEqual({ command: 'error', reply })
  })

  test('of any kind is a command or a reply of one line, never an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parsed = parseAdminLine(text.replace(/[\r\n]/g, ''))
        if (parsed.command === 'error') expect(parsed.reply).toMatch(/^ERR [^\r\n]*\r\n$/)
      }),
    )
  })
})

describe('admin replies', () => {
  test('of one value start with OK', () => {
    expect(formatVersion('1.2.3') + formatVerbose('ERROR') + formatPid(77)).toBe(
      'OK 1.2.3\nOK ERROR\nOK 77\n',
    )
  })

  test('of an empty list are a full stop', () => {
    for (const format of [formatStatus, formatPriorityStatus, formatWorkers, formatShowJobs]) {
      expect(format([])).toBe('.\n')
    }
    expect(formatShowUniqueJobs([])).toBe('.\n')
  })

  test('list functions in columns that tabs separate', () => {
    expect(formatStatus([{ function: 'f', total: 4, running: 1, workers: 2 }])).toBe(
      'f\t4\t1\t2\n.\n',
    )
    expect(formatPriorityStatus([{ function: 'f', high: 1, normal: 2, low: 3, workers: 4 }])).toBe(
      'f\t1\t2\t3\t4\n.\n',
    )
  })

  test('list connections with a dash for those without an id', () => {
    expect(
      formatWorkers([
        { fd: 37, address: '127.0.0.1', id: 'my id', functions: ['a', 'b'] },
        { fd: 36, address: '127.0.0.1', id: '', functions: [] },
      ]),
    ).toBe('37 127.0.0.1 my id : a b\n36 127.0.0.1 - :\n.\n')
  })

  test('list jobs and unique ids', () => {
    expect(
      formatShowJobs([
        { handle: 'H:lap:1', retries: 0, ignored: false, queued: true },
        { handle: 'H:lap:3', retries: 2, ignored: true, queued: false },
      ]),
    ).toBe('H:lap:1\t0\t0\t1\nH:lap:3\t2\t1\t0\n.\n')
    expect(formatShowUniqueJobs(['a', 'b'])).toBe('a\nb\n.\n')
  })

  test('keep a name from breaking a line or a column', () => {
    expect(formatStatus([{ function: 'x\n.\ty', total: 0, running: 0, workers: 0 }])).toBe(
      'x?.?y\t0\t0\t0\n.\n',
    )
  })

  test('end in CR LF when they are fixed texts', () => {
    for (const reply of Object.values(adminReplies))
      expect(reply).toMatch(/^(OK|ERR [^\r\n]+)\r\n$/)
  })
})
