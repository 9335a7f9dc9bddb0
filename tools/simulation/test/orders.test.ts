import { expect, test } from 'vitest'
import { walkOrders, type OrdersSeen } from '../run/orders.ts'
import type { Plan } from '../world/plan.ts'
import { SimStores } from '../world/sim-store.ts'
import { actorOf, Timeline, type Event } from '../world/timeline.ts'

const stores = await SimStores.start()

test('every order of a tiny world is walked, and the same states are seen again', async () => {
  const runs = 12
  const walk = async (plan?: Plan): Promise<OrdersSeen> =>
    walkOrders('crash', stores.open, (seen) => seen.runs < runs, plan)
  const one = await walk()
  // Finding the tiny world takes as many worlds.
  const other = await walk({ ...one.plan, faults: [] })
  expect(one).toEqual(other)
  expect(one.runs).toBe(runs)
  expect(one.plan).toMatchObject({ gateways: 2, faults: [{ kind: 'crash' }] })
  expect(one.depth).toBeGreaterThan(0)
  expect(one.states).toBeGreaterThan(20)
  expect(one.failure).toBeUndefined()
})

/** Runs three events of two lines with the given choices. */
async function orderOf(choices: number[]): Promise<string[]> {
  const timeline = new Timeline()
  const [near, far] = [actorOf('near'), actorOf('far')]
  const ran: string[] = []
  const line = {}
  timeline.after(1, near, () => void ran.push('first'), line)
  timeline.after(2, near, () => void ran.push('second'), line)
  timeline.after(3, far, () => void ran.push('other'))
  timeline.after(50, far, () => void ran.push('much later'))
  const pick = (events: readonly Event[]): Event =>
    events[events.length > 1 ? (choices.shift() ?? 0) : 0]!
  timeline.chooser = { fromMs: 0, windowMs: 4, pick }
  await timeline.runUntil(100)
  return ran
}

test('choices change the order of events, but not within a line, nor over a long time', async () => {
  expect(await orderOf([])).toEqual(['first', 'second', 'other', 'much later'])
  expect(await orderOf([1])).toEqual(['other', 'first', 'second', 'much later'])
  expect(await orderOf([0, 1])).toEqual(['first', 'other', 'second', 'much later'])
})
