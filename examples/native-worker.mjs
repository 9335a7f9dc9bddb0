// A GearMonkey worker that turns text around, straight on Redis: it knows nothing of the gateway.
import { GearMonkeyWorker } from '@crossgear/gearmonkey-redis'

const worker = new GearMonkeyWorker(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')
await worker.accept('reverse', ({ id, input }) => {
  console.error(`job ${id}`)
  return [...input.toString()].reverse().join('')
})
process.once('SIGTERM', () => worker.stop())
