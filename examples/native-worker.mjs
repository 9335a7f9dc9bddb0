// A GearMonkey worker that turns text around, straight on Redis: it knows nothing of the gateway.
import { GearMonkeyWorker } from '@crossgear/gearmonkey-redis'
import { storeUrl } from './store-url.mjs'

const worker = new GearMonkeyWorker(storeUrl())
await worker.accept('reverse', ({ id, input }) => {
  console.error(`job ${id}`)
  return [...input.toString()].reverse().join('')
})
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => worker.stop())
