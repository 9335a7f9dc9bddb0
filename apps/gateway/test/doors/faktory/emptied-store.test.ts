import { maxLanes } from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import { describeFaktory, type FaktoryGateway } from './support/faktory-gateway.ts'

describeFaktory('a store that came back empty', (gateways) => {
  const lanes = ['first', 'second']

  function numbersOf({ scheduler }: FaktoryGateway): readonly (number | undefined)[] {
    return lanes.map((lane) => scheduler.registry.numberOf(lane))
  }

  function reminded({ scheduler }: FaktoryGateway): Promise<void> {
    return new Promise((resolve) => scheduler.onStoreReset(resolve))
  }

  test('gets all lanes again, with new numbers, the same at all nodes, and the marks of Faktory producers', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const producer = await here.client()
    for (const jobtype of lanes) await producer.push('12345678', { jobtype })
    await expect.poll(() => numbersOf(there)).toEqual([1, 2])
    const both = Promise.all([reminded(here), reminded(there)])
    await gateways.redis('FLUSHALL')
    await both
    await producer.push('12345678', { jobtype: 'second' })
    expect(await gateways.redis('HGET', 'xg:lane:second', 'open')).toBe('1')
    // Their handles are other ones.
    for (const number of numbersOf(here)) expect(number).toBeGreaterThan(maxLanes)
    expect(numbersOf(there)).toEqual(numbersOf(here))
    const late = await gateways.open()
    expect(numbersOf(late)).toEqual(numbersOf(here))
    expect(await (await late.client({ wid: 'worker-1' })).ask('FETCH')).toContain('"second"')
  })
})
