import { describe, expect, test } from 'vitest'
import {
  cutTo,
  shownName,
  shownSeconds,
  widthOf,
} from '../../../src/commands/terminal/shown-text.ts'
import { tableLines } from '../../../src/commands/terminal/table.ts'
import { afterKeys, type TopState } from '../../../src/commands/terminal/top/keys.ts'
import type { TopRow } from '../../../src/commands/terminal/top/looks.ts'
import { rowLines } from '../../../src/commands/terminal/top/view.ts'

describe('a table', () => {
  const columns = [
    { title: 'name', value: (row: readonly [string, number]) => row[0], mayShrink: true },
    { title: 'jobs', value: (row: readonly [string, number]) => row[1], isNumber: true },
  ]

  test('is no wider than the terminal, and uncut without one', () => {
    const rows = [['a-very-long-function-name-indeed', 1234567] as const, ['小', 2] as const]
    const narrow = tableLines(columns, rows, 24)
    expect(narrow).toEqual([
      'NAME                JOBS',
      'a-very-long-fu…  1234567',
      '小                     2',
    ])
    expect(narrow.map(widthOf)).toEqual([24, 24, 24])
    expect(tableLines(columns, rows, Infinity)[1]).toBe('a-very-long-function-name-indeed  1234567')
  })

  test('leaves out columns of a rank, the highest first, before it cuts names too short', () => {
    const ranked = [
      { ...columns[0]!, min: 20 },
      { ...columns[1]!, rank: 1 },
      { title: 'dead', value: () => 3, isNumber: true, rank: 2 },
    ]
    const rows = [['a-very-long-function-name', 12] as const]
    const titles = (width: number) => tableLines(ranked, rows, width)[0]?.split(/ +/)
    expect(titles(Infinity)).toEqual(['NAME', 'JOBS', 'DEAD'])
    expect(titles(32)).toEqual(['NAME', 'JOBS', 'DEAD'])
    expect(titles(31)).toEqual(['NAME', 'JOBS'])
    expect(titles(25)).toEqual(['NAME'])
    expect(tableLines(ranked, rows, 10)[1]).toBe('a-very-lo…')
  })

  test('never shows control or invisible characters', () => {
    const name = 'a\u001b[2J\u0007\n\u202e\u200bb\u2028\u{e0001}\ud800'
    expect(shownName(name)).toBe('a\\u001b[2J\\u0007\\n\\u202e\\u200bb\\u2028\\u{e0001}\\ud800')
    const [, line = ''] = tableLines(columns, [[name, 1]], Infinity)
    expect(/[\p{Cc}\p{Cf}]/u.test(line)).toBe(false)
  })

  test.each([
    [0, '0s'],
    [0.44, '0.4s'],
    [12.9, '12s'],
    [185, '3m05s'],
    [7_800, '2h10m'],
    [90_000, '1d01h'],
    [8_640_000, '100d00h'],
  ])('shows %d seconds as %s', (seconds, shown) => {
    expect(shownSeconds(seconds)).toBe(shown)
  })

  test('a text is cut between characters', () => {
    expect(cutTo('小小小', 4)).toBe('小…')
    expect(cutTo('abc', 3)).toBe('abc')
    expect(cutTo('abc', 0)).toBe('')
  })
})

describe('the table of top', () => {
  const row: TopRow = {
    function: 'orders.confirmation',
    queue: 'default',
    waiting: 100,
    running: 2,
    rate: 1.5,
    oldest_waiting_seconds: 9,
    scheduled: 0,
    retry: 7,
    dead: 0,
    workers: 4,
    by_door: {},
    is_paused: false,
    is_function_paused: false,
    waits_for: null,
  }

  test('keeps the queue, and the column that it is sorted by, on a narrow terminal', () => {
    expect(rowLines([row], 40, 'waiting')).toEqual([
      'FUNCTION       QUEUE    WAITING  RUNNING',
      'orders.confi…  default      100        2',
    ])
    expect(rowLines([row], 47, 'retry')[0]).toBe('FUNCTION       QUEUE    WAITING  RUNNING  RETRY')
  })
})

describe('the keys of top', () => {
  const state: TopState = {
    sort: 'waiting',
    isReversed: false,
    filter: '',
    typed: undefined,
    from: 0,
    hasEnded: false,
  }
  const room = { screen: 10, rows: 25 }
  const after = (input: string, from: TopState = state) => afterKeys(from, input, room)

  test('sort, reverse and scroll within the rows', () => {
    expect(after('s').sort).toBe('running')
    expect(after('\u001b[D\u001b[D').sort).toBe('function')
    expect(after('\u001bOC').sort).toBe('running')
    expect(after('r').isReversed).toBe(true)
    expect(after('\u001b[B\u001b[B\u001b[A').from).toBe(1)
    expect(after('\u001b[6~\u001b[6~\u001b[6~').from).toBe(15)
    expect(after('\u001b[5~').from).toBe(0)
  })

  test('a filter is typed, corrected, taken with Enter and left with Escape', () => {
    expect(after('/maiq').typed).toBe('maiq')
    expect(after('/maiq\u007fl\r')).toMatchObject({ filter: 'mail', typed: undefined })
    expect(after('/x\u001b', { ...state, filter: 'mail' })).toMatchObject({
      filter: 'mail',
      typed: undefined,
    })
    expect(after(`/${'x'.repeat(300)}`).typed).toHaveLength(255)
  })

  test('q and Ctrl-C end it, but q is a letter of a filter', () => {
    expect(after('q').hasEnded).toBe(true)
    expect(after('/q')).toMatchObject({ typed: 'q', hasEnded: false })
    expect(after('/\u0003').hasEnded).toBe(true)
  })
})
