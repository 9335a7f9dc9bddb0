import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { plainConfig } from '../../src/cluster/plain-config.ts'

const mib = 1024 * 1024

const told = (flags: Record<string, string>) => plainConfig(loadConfig({ flags, env: {} }))

describe('what each process is told', () => {
  test.each([
    ['is shared out evenly', { processes: '4' }, 128 * mib],
    ['has room for a packet of the largest size', { processes: '16' }, 65 * mib],
    ['is no more than there is', { processes: '2', maxBufferedBytes: String(mib) }, mib],
  ])('of the bytes that have half arrived: the bound %s', (_name, flags, bytes) => {
    expect(told(flags).maxBufferedBytes).toBe(bytes)
  })

  test('can be sent', () => {
    const config = told({ processes: '2' })
    expect(structuredClone(config)).toEqual(config)
  })
})
