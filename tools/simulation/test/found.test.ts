import { expect, test } from 'vitest'
import { play } from '../run/play.ts'
import { SimStores } from '../world/sim-store.ts'
import type { PeerPlan, Plan } from '../world/plan.ts'

const stores = await SimStores.start()

const plain: Omit<Plan, 'seed' | 'gateways' | 'wildMs' | 'peers'> = {
  functionOrder: 'in-order',
  hasThrottles: false,
  hasRoutes: false,
  hasCron: false,
  faults: [],
  changes: [],
  waitsForReplica: false,
}

const kinds = {
  client: 'gearman client',
  worker: 'gearman worker',
  producer: 'faktory producer',
  consumer: 'faktory consumer',
  native: 'native client',
  operator: 'operator',
} as const
type Kind = keyof typeof kinds

/** Peers by their names, which say what they are, with how many jobs each has. */
const peersOf = (jobs: Readonly<Partial<Record<`${Kind}${1 | 2 | 3}`, number>>>): PeerPlan[] =>
  Object.entries(jobs).map(([name, count]) => {
    return { name, kind: kinds[name.slice(0, -1) as Kind], jobs: count }
  })

/** Worlds in which a fault of the code was seen, which has been mended; each with what it was. */
const found: readonly (readonly [string, Plan])[] = [
  [
    'sleeping Gearman workers are not woken without end while a limit holds their jobs back',
    {
      ...plain,
      seed: 60,
      gateways: 2,
      wildMs: 2_595,
      hasThrottles: true,
      peers: peersOf({
        producer1: 4,
        producer2: 4,
        worker1: 0,
        worker2: 0,
        worker3: 0,
        consumer1: 0,
        consumer2: 0,
        consumer3: 0,
      }),
    },
  ],
  [
    'the last worker of a function is not counted any more, though the store has lost that it left',
    {
      ...plain,
      seed: 20_267,
      gateways: 3,
      wildMs: 4_740,
      peers: peersOf({ producer2: 2, worker1: 0 }),
      faults: [
        { number: 1, kind: 'stop', atMs: 1_577, forMs: 14 },
        { number: 2, kind: 'store restarts with a loss', atMs: 2_975, forMs: 1_392 },
      ],
    },
  ],
  [
    'a moved job keeps the time after which it may not run',
    {
      ...plain,
      seed: 3,
      gateways: 1,
      wildMs: 4021,
      peers: peersOf({ producer1: 5, operator1: 4 }),
    },
  ],
  [
    'a moved job names its new queue to its worker',
    {
      ...plain,
      seed: 10,
      gateways: 1,
      wildMs: 3257,
      peers: peersOf({ producer1: 1, producer2: 2, operator1: 2 }),
    },
  ],
  [
    'a gateway that has its store again is not taken for dead, nor its clients for gone',
    {
      ...plain,
      seed: 7557,
      gateways: 3,
      wildMs: 1833,
      functionOrder: 'by-level',
      faults: [{ number: 2, kind: 'store away', atMs: 1762, forMs: 3648 }],
      changes: [{ number: 2, kind: 'leave', atMs: 2501, forMs: 183 }],
      peers: peersOf({ client2: 2, worker1: 0, native1: 2 }),
    },
  ],
  [
    'the callback of a batch has not the id of a lost job, whose client would hear its result',
    {
      ...plain,
      seed: 7971,
      gateways: 1,
      wildMs: 1240,
      faults: [{ number: 1, kind: 'store fails over', atMs: 1115, forMs: 1413 }],
      peers: peersOf({ client2: 4, producer1: 3, worker3: 0 }),
    },
  ],
  [
    'a job that begins while it is moved stays where it is, and runs once',
    {
      ...plain,
      seed: 5268,
      gateways: 1,
      wildMs: 3743,
      hasThrottles: true,
      hasRoutes: true,
      peers: peersOf({
        client1: 4,
        client2: 6,
        client3: 6,
        producer1: 1,
        producer2: 1,
        consumer1: 0,
        native1: 1,
        operator1: 3,
        operator2: 3,
      }),
    },
  ],
  [
    'the callback of a batch goes with its function, which is dropped with the last job of the batch',
    {
      ...plain,
      seed: 5852,
      gateways: 1,
      wildMs: 4109,
      peers: peersOf({ client2: 3, producer1: 1, worker1: 0, operator2: 3 }),
    },
  ],
  [
    'counts of a gateway that died go from a queue of which another gateway had not been told',
    {
      ...plain,
      seed: 4712,
      gateways: 2,
      wildMs: 1037,
      faults: [
        { number: 1, kind: 'store stands still', atMs: 632, forMs: 533 },
        { number: 3, kind: 'lose messages', atMs: 177, forMs: 169 },
        { number: 4, kind: 'crash', atMs: 785, forMs: 11 },
      ],
      peers: peersOf({ producer2: 1, worker1: 0, consumer2: 0, consumer3: 0, native1: 1 }),
    },
  ],
]

test.each(found)('%s', async (_what, plan) => {
  const { problems } = await play(plan, stores.open, false)
  expect(problems).toEqual([])
})
