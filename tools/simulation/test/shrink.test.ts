import { expect, test } from 'vitest'
import { kindOf, shrink } from '../run/shrink.ts'
import { planOf, type Plan } from '../world/plan.ts'

const kindsOf = ({ faults }: Plan): readonly string[] => faults.map(({ kind }) => kind)
const seeds = Array.from({ length: 20_000 }, (_none, at) => at + 1)
const big = seeds
  .map((seed) => planOf(seed))
  .find(
    (plan) =>
      plan.faults.length > 2 &&
      kindsOf(plan).includes('crash') &&
      plan.hasCron &&
      plan.hasRoutes &&
      plan.changes.length > 0 &&
      plan.peers.length > 6,
  )!

test('a plan shrinks to what its problem needs', async () => {
  const needs = (plan: Plan): readonly string[] =>
    kindsOf(plan).includes('crash') && plan.peers.some(({ jobs }) => jobs > 0)
      ? [`client${plan.peers.length}-2 waits for ever`]
      : []
  const { plan, problems, tries } = await shrink(big, needs(big), (smaller) =>
    Promise.resolve(needs(smaller)),
  )
  expect(plan).toMatchObject({
    seed: big.seed,
    gateways: 1,
    hasCron: false,
    waitsForReplica: false,
    hasThrottles: false,
    hasRoutes: false,
    changes: [],
    functionOrder: 'in-order',
  })
  expect([kindsOf(plan), plan.peers.map(({ jobs }) => jobs)]).toEqual([['crash'], [1]])
  expect(problems).toEqual(['client1-2 waits for ever'])
  expect(tries).toBeLessThan(100)
})

test('another problem is not the one that is shrunk', async () => {
  const { plan } = await shrink(big, ['one thing'], (smaller) =>
    Promise.resolve([smaller.peers.length < big.peers.length ? 'another thing' : 'one thing']),
  )
  expect(plan.peers).toHaveLength(big.peers.length)
  expect(plan.faults).toEqual([])
})

test('shrinking ends though each plan fails in a smaller way', async () => {
  let tried = 0
  const endless = {
    ...big,
    wildMs: Number.MAX_SAFE_INTEGER,
    faults: Array.from({ length: 1_000 }, () => big.faults[0]!),
  }
  const { tries } = await shrink(endless, ['x'], (plan) => {
    tried += 1
    return Promise.resolve(plan.faults.length === 0 ? [] : ['x'])
  })
  expect([tries, tried]).toEqual([250, 250])
})

test('problems are of one kind if only their names and numbers differ', () => {
  const one = kindOf('client1-2 was accepted at 13 ms, and no run of it has ended')
  expect(one).toBe(kindOf('producer2-104 was accepted at 1399 ms, and no run of it has ended'))
  expect(one).not.toBe(kindOf('client1 waits for client1-2 for ever'))
})
