import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { faktoryGateways, type FaktoryGateway } from './support/faktory-gateway.ts'
import { pushLine } from './support/figures.ts'

describe.skipIf(lacksRedis)('a store that came back empty', () => {
  const gateways = faktoryGateways()
  const lanes = ['first', 'second']

  function numbersOf({ scheduler }: FaktoryGateway): readonly (number | undefined)[] {
    return lanes.map((lane) => scheduler.registry.numberOf(lane))
  }

  function reminded({ scheduler }: FaktoryGateway): Promise<void> {
    return new Promise((resolve) => scheduler.onStoreReset(resolve))
  }

  test('gets all lanes again, with the numbers of all nodes and the marks of Faktory producers', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const producer = await here.client()
    // Numbers that are not those which a store gives that begins anew.
    await gateways.redis('INCRBY', 'xg:lane-number', '1')
    for (const jobtype of lanes) await producer.ask(pushLine('12345678', { jobtype }))
    await expect.poll(() => numbersOf(there)).toEqual([2, 3])
    const both = Promise.all([reminded(here), reminded(there)])
    await gateways.redis('FLUSHALL')
    await both
    await producer.ask(pushLine('12345678', { jobtype: 'second' }))
    expect(await gateways.redis('HGET', 'xg:lane:second', 'open')).toBe('1')
    expect([...numbersOf(here)].sort()).toEqual([1, 2])
    expect(numbersOf(there)).toEqual(numbersOf(here))
    const late = await gateways.open()
    expect(numbersOf(late)).toEqual(numbersOf(here))
    expect(await (await late.client({ wid: 'worker-1' })).ask('FETCH')).toContain('"second"')
  })
})
