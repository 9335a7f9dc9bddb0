import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { plainConfig } from '../../src/cluster/plain-config.ts'

const MIB = 1024 * 1024

const told = (flags: Record<string, string>) => plainConfig(loadConfig({ flags, env: {} }))

describe('what each process is told', () => {
  it.each([
    ['is shared out evenly', { processes: '4' }, 128 * MIB],
    ['has room for a packet of the largest size', { processes: '16' }, 65 * MIB],
    ['is no more than there is', { processes: '2', maxBufferedBytes: String(MIB) }, MIB],
  ])('of the bytes that have half arrived: the bound %s', (_name, flags, bytes) => {
    expect(told(flags).maxBufferedBytes).toBe(bytes)
  })

  it('can be sent', () => {
    const config = told({ processes: '2' })
    expect(structuredClone(config)).toEqual(config)
  })
})
