// A thread that plays worlds, one task after the other.
import { parentPort, workerData } from 'node:worker_threads'
import { walkOrders } from './orders.ts'
import type { Program } from '@crossgear/redis-store/embedded'
import { SimStores } from '../world/sim-store.ts'
import { play } from './play.ts'
import { shrink } from './shrink.ts'
import type { Message, Task } from './tasks.ts'

const port = parentPort!
const stores = await SimStores.start(workerData as Program)
const openStore = stores.open
const send = (answer: unknown, isLast: boolean): void =>
  port.postMessage({ answer, isLast } satisfies Message)

async function answerTo(task: Task): Promise<unknown> {
  if (task.kind === 'play') return play(task.plan, openStore, task.tells)
  if (task.kind === 'orders') {
    const endsAtMs = performance.now() + task.forMs
    return walkOrders(task.fault, openStore, (seen) => {
      send(seen, false)
      return performance.now() < endsAtMs
    })
  }
  const shrunk = await shrink(
    task.plan,
    task.problems,
    async (plan) => (await play(plan, openStore, false)).problems,
  )
  const { story } = await play(shrunk.plan, openStore, true)
  return { ...shrunk, story }
}

port.on('message', (task: Task | 'end') => {
  if (task === 'end') void stores.stop().then(() => port.close())
  else void answerTo(task).then((answer) => send(answer, true))
})
