// A worker of the library, for `gearmonkey-conformance`, and for tests that kill it.
import { GearMonkeyWorker } from '../../../src/index.ts'

const concurrency = Number(process.env['GEARMONKEY_CONCURRENCY'] ?? 1)
const worker = new GearMonkeyWorker(process.env['GEARMONKEY_REDIS_URL'] ?? '', { concurrency })
await worker.accept(process.env['GEARMONKEY_FN'] ?? '', ({ input }) => {
  if (input.toString() === 'fail') throw new Error('as asked')
  if (input.toString() === 'hang') return new Promise(() => undefined)
  return input
})
process.once('SIGTERM', () => void worker.stop())
