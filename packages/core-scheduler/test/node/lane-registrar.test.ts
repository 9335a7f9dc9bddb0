import { expect, test } from 'vitest'
import { LaneRegistrar } from '../../src/node/lane-registrar.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'
import { LaneNames } from '../../src/model/lanes.ts'
import { SchedulerEmitter } from '../../src/node/scheduler-events.ts'

/** A registrar of a store that answers with these numbers, one after the other, and how many it has given. */
function registrarOf(numbers: number[]): { registrar: LaneRegistrar; asked: () => number } {
  const before = numbers.length
  const register = (): Promise<number> => Promise.resolve(numbers.shift() ?? Number.NaN)
  const observer = { error: (): void => undefined }
  const parts = {
    store: { lanes: { register } },
    registry: new LaneRegistry(new LaneNames()),
    counts: { hasNamed: () => false, laneAdded: () => Promise.resolve() },
    steps: { countOutside: () => undefined },
    events: new SchedulerEmitter(observer),
    observer,
  }
  const registrar = new LaneRegistrar(
    parts as unknown as ConstructorParameters<typeof LaneRegistrar>[0],
  )
  return { registrar, asked: () => before - numbers.length }
}

test('a lane that is dropped while it is registered is registered again', async () => {
  const { registrar } = registrarOf([7, 8])
  const registering = registrar.register('mail')
  registrar.dropped('mail', 7)
  expect(await registering).toBe(8)
})

test('a store that gives a dropped number twice is not asked a third time', async () => {
  const { registrar, asked } = registrarOf([7, 7, 7, 7])
  const registering = registrar.register('mail')
  registrar.dropped('mail', 9)
  expect(await registering).toBe(7)
  expect(asked()).toBe(2)
})
