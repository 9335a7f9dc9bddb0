import { describe, expect, test } from 'vitest'
import {
  coalescingKey,
  dueAt,
  exceptionReport,
  leaseOf,
  progressFigure,
  shownUnique,
} from '../../../src/doors/gearman/translate.ts'

const bytes = (text: string): Buffer => Buffer.from(text)

describe('the coalescing key', () => {
  test('is the unique id itself', () => {
    expect(coalescingKey(bytes('u1'), bytes('data'))).toEqual(bytes('u1'))
    expect(shownUnique(bytes('u1'))).toEqual(bytes('u1'))
  })

  test('is none for an empty unique id', () => {
    expect(coalescingKey(bytes(''), bytes('data'))).toBeUndefined()
    expect(shownUnique(undefined)).toBe('')
  })

  test('of - is the payload, and is shown as -', () => {
    const key = coalescingKey(bytes('-'), bytes('data'))
    expect(coalescingKey(bytes('-'), bytes('data'))).toEqual(key)
    expect(coalescingKey(bytes('-'), bytes('other'))).not.toEqual(key)
    expect(shownUnique(key)).toBe('-')
  })

  test('of - with an empty payload is a new one each time, and is shown as -', () => {
    const key = coalescingKey(bytes('-'), bytes(''))
    expect(coalescingKey(bytes('-'), bytes(''))).not.toEqual(key)
    expect(shownUnique(key)).toBe('-')
  })
})

test.each([
  ['0', undefined],
  ['-1', undefined],
  ['soon', undefined],
  ['1', 1000],
  ['999', 1000],
  ['2500', 2500],
])('CAN_DO_TIMEOUT %s allows %s ms', (text, ms) => expect(leaseOf(bytes(text))).toBe(ms))

test.each([
  ['1700000000', 1_700_000_000_000],
  ['1700000000000000000', Number.MAX_SAFE_INTEGER],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ['0', undefined],
  ['-5', undefined],
  ['now', undefined],
  ['', undefined],
])('epoch %j is due at %s', (text, ms) => expect(dueAt(bytes(text))).toBe(ms))

test.each([
  ['7', '7'],
  ['abc', '0'],
  ['-7', '4294967289'],
  ['99999999999', '1215752191'],
  ['99999999999999999999', '4294967295'],
  [' +7 of 9', '7'],
])('progress %s is shown as %s', (text, figure) => expect(progressFigure(bytes(text))).toBe(figure))

test('progress that was not reported is shown as 0', () => {
  expect(progressFigure(undefined)).toBe('0')
})

test('an exception keeps its bytes beside its text', () => {
  const data = Buffer.from([0xff, 0x00, 0x41])
  expect(exceptionReport(data)).toMatchObject({ bytes: data, errtype: 'WORK_EXCEPTION' })
})
