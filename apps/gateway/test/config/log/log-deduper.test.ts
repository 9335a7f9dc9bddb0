import { beforeEach, describe, expect, test } from 'vitest'
import { LogDeduper } from '../../../src/config/log/log-deduper.ts'

describe('the error of a background task', () => {
  let nowMs: number
  let troubles: LogDeduper
  beforeEach(() => {
    nowMs = 0
    troubles = new LogDeduper(() => nowMs)
    expect(troubles.isNews('beat', 'gone')).toBe(true)
  })

  test('is logged once, and again after a minute', () => {
    nowMs = 59_999
    expect(troubles.isNews('beat', 'gone')).toBe(false)
    nowMs = 60_000
    expect([troubles.isNews('beat', 'gone'), troubles.isNews('beat', 'gone')]).toEqual([
      true,
      false,
    ])
  })

  test('is logged again when it differs, or another task has its first', () => {
    expect(troubles.isNews('promote', 'gone')).toBe(true)
    expect(troubles.isNews('beat', 'full')).toBe(true)
    expect(troubles.isNews('beat', 'gone')).toBe(true)
  })

  test('is logged again after a success in between', () => {
    troubles.forget()
    expect(troubles.isNews('beat', 'gone')).toBe(true)
  })
})
