import { describe, expect, test } from 'vitest'
import {
  costOf,
  lineThrough,
  planOf,
  type Terms,
  valueAt,
} from '../../../../src/commands/doctor/capacity/model.ts'

const flat = (base: number) => ({ base, perKib: 0 })
const cheap = { gatewayUs: flat(50), redisUs: flat(20), traffic: flat(200) }
const terms: Terms = {
  jobs: {
    faktory: {
      gatewayUs: { base: 200, perKib: 10 },
      redisUs: { base: 90, perKib: 5 },
      traffic: { base: 500, perKib: 1_000 },
    },
    foreground: cheap,
    background: { ...cheap, redisUs: flat(70) },
  },
  waitingBytes: { base: 400, perKib: 1_100 },
  connectionBytes: 2_000,
  restUs: 10_000,
}

describe('the model of a machine', () => {
  test('has a line through what was measured with two payloads', () => {
    const line = lineThrough([1_024, 30], [11_264, 130])
    expect(line).toEqual({ base: 20, perKib: 10 })
    expect(valueAt(line, 4_096)).toBe(60)
  })

  test('has no job that takes less because it is larger', () => {
    expect(lineThrough([1_024, 30], [11_264, 20])).toEqual({ base: 30, perKib: 0 })
  })

  test('says what a job of a kind and a payload takes', () => {
    expect(costOf(terms, 'faktory', 2_048)).toEqual({
      gatewayUs: 220,
      redisUs: 100,
      traffic: 2_500,
    })
  })

  test.each([
    [1_000, { gateways: 1, redisServers: 1, cores: 0.315 }],
    [10_000, { gateways: 3, redisServers: 2, cores: 3.06 }],
    [100_000, { gateways: 30, redisServers: 14, cores: 30.51 }],
  ])('for %d jobs a second has enough processes at 70 %% of a core', (rate, expected) => {
    const plan = planOf(terms, 'faktory', 1_024, rate)
    expect(plan).toMatchObject({ ...expected, trafficBytesPerSecond: rate * 1_500 })
    expect(plan.hourBytes).toBe(rate * 3_600 * 1_500)
  })

  test('has a gateway for each store, however little it has to do', () => {
    const plan = planOf(terms, 'background', 100, 1_000_000)
    expect(plan).toMatchObject({ gateways: 100, redisServers: 100 })
  })

  test('names what is full first', () => {
    expect(planOf(terms, 'foreground', 100, 1_000).firstAtLimit).toBe('gateway')
    expect(planOf(terms, 'background', 100, 1_000).firstAtLimit).toBe('Redis')
  })
})
