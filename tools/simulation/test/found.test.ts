import { expect, test } from 'vitest'
import { play } from '../run/play.ts'
import { memorySimStore } from '../world/sim-store.ts'
import type { PeerPlan, Plan } from '../world/plan.ts'

const plain: Omit<Plan, 'seed' | 'gateways' | 'wildMs' | 'peers'> = {
  functionOrder: 'in-order',
  ...{ hasThrottles: false, hasRoutes: false, hasCron: false, faults: [], changes: [] },
}

const workers = (kind: PeerPlan['kind'], name: string): PeerPlan[] =>
  [1, 2, 3].map((number) => ({ name: `${name}${number}`, kind, jobs: 0 }))

/** Worlds in which a fault of the code was seen, which has been mended; each with what it was. */
const found: readonly (readonly [string, Plan])[] = [
  [
    'sleeping Gearman workers are not woken without end while a limit holds their jobs back',
    {
      ...{ ...plain, seed: 60, gateways: 2, wildMs: 2_595, hasThrottles: true },
      peers: [
        { name: 'producer1', kind: 'faktory producer', jobs: 4 },
        { name: 'producer2', kind: 'faktory producer', jobs: 4 },
        ...workers('gearman worker', 'worker'),
        ...workers('faktory consumer', 'consumer'),
      ],
    },
  ],
  [
    'the last worker of a function is not counted any more, though the store has lost that it left',
    {
      ...{ ...plain, seed: 20_267, gateways: 3, wildMs: 4_740 },
      peers: [
        { name: 'producer2', kind: 'faktory producer', jobs: 2 },
        { name: 'worker1', kind: 'gearman worker', jobs: 0 },
      ],
      faults: [
        { number: 1, kind: 'stop', atMs: 1_577, forMs: 14 },
        { number: 2, kind: 'store restarts with a loss', atMs: 2_975, forMs: 1_392 },
      ],
    },
  ],
  [
    'a moved job keeps the time after which it may not run',
    {
      ...{ ...plain, seed: 3, gateways: 1, wildMs: 4021 },
      peers: [
        { name: 'producer1', kind: 'faktory producer', jobs: 5 },
        { name: 'operator1', kind: 'operator', jobs: 4 },
      ],
    },
  ],
  [
    'a moved job names its new queue to its worker',
    {
      ...{ ...plain, seed: 10, gateways: 1, wildMs: 3257 },
      peers: [
        { name: 'producer1', kind: 'faktory producer', jobs: 1 },
        { name: 'producer2', kind: 'faktory producer', jobs: 2 },
        { name: 'operator1', kind: 'operator', jobs: 2 },
      ],
    },
  ],
  [
    'a gateway that has its store again is not taken for dead, nor its clients for gone',
    {
      ...{ ...plain, seed: 7557, gateways: 3, wildMs: 1833, functionOrder: 'by-level' },
      faults: [{ number: 2, kind: 'store away', atMs: 1762, forMs: 3648 }],
      changes: [{ number: 2, kind: 'leave', atMs: 2501, forMs: 183 }],
      peers: [
        { name: 'client2', kind: 'gearman client', jobs: 2 },
        { name: 'worker1', kind: 'gearman worker', jobs: 0 },
        { name: 'native1', kind: 'native client', jobs: 2 },
      ],
    },
  ],
  [
    'the callback of a batch has not the id of a lost job, whose client would hear its result',
    {
      ...{ ...plain, seed: 7971, gateways: 1, wildMs: 1240 },
      faults: [{ number: 1, kind: 'store fails over', atMs: 1115, forMs: 1413 }],
      peers: [
        { name: 'client2', kind: 'gearman client', jobs: 4 },
        { name: 'producer1', kind: 'faktory producer', jobs: 3 },
        { name: 'worker3', kind: 'gearman worker', jobs: 0 },
      ],
    },
  ],
  [
    'a job that begins while it is moved stays where it is, and runs once',
    {
      ...{ ...plain, seed: 5268, gateways: 1, wildMs: 3743, hasThrottles: true, hasRoutes: true },
      peers: [
        { name: 'client1', kind: 'gearman client', jobs: 4 },
        { name: 'client2', kind: 'gearman client', jobs: 6 },
        { name: 'client3', kind: 'gearman client', jobs: 6 },
        { name: 'producer1', kind: 'faktory producer', jobs: 1 },
        { name: 'producer2', kind: 'faktory producer', jobs: 1 },
        { name: 'consumer1', kind: 'faktory consumer', jobs: 0 },
        { name: 'native1', kind: 'native client', jobs: 1 },
        { name: 'operator1', kind: 'operator', jobs: 3 },
        { name: 'operator2', kind: 'operator', jobs: 3 },
      ],
    },
  ],
  [
    'the callback of a batch goes with its function, which is dropped with the last job of the batch',
    {
      ...{ ...plain, seed: 5852, gateways: 1, wildMs: 4109 },
      peers: [
        { name: 'client2', kind: 'gearman client', jobs: 3 },
        { name: 'producer1', kind: 'faktory producer', jobs: 1 },
        { name: 'worker1', kind: 'gearman worker', jobs: 0 },
        { name: 'operator2', kind: 'operator', jobs: 3 },
      ],
    },
  ],
  [
    'counts of a gateway that died go from a queue of which another gateway had not been told',
    {
      ...{ ...plain, seed: 4712, gateways: 2, wildMs: 1037 },
      faults: [
        { number: 1, kind: 'store stands still', atMs: 632, forMs: 533 },
        { number: 3, kind: 'lose messages', atMs: 177, forMs: 169 },
        { number: 4, kind: 'crash', atMs: 785, forMs: 11 },
      ],
      peers: [
        { name: 'producer2', kind: 'faktory producer', jobs: 1 },
        { name: 'worker1', kind: 'gearman worker', jobs: 0 },
        { name: 'consumer2', kind: 'faktory consumer', jobs: 0 },
        { name: 'consumer3', kind: 'faktory consumer', jobs: 0 },
        { name: 'native1', kind: 'native client', jobs: 1 },
      ],
    },
  ],
]

test.each(found)('%s', async (_what, plan) => {
  const { problems } = await play(plan, memorySimStore, false)
  expect(problems).toEqual([])
})
