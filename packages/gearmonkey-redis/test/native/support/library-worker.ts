// A worker of the library, for `gearmonkey-conformance`.
import { GearMonkeyWorker } from '../../../src/native/index.ts'

const worker = new GearMonkeyWorker(process.env['GEARMONKEY_REDIS_URL'] ?? '')
await worker.accept(process.env['GEARMONKEY_FN'] ?? '', ({ input }) => {
  if (input.toString() === 'fail') throw new Error('as asked')
  return input
})
process.once('SIGTERM', () => void worker.stop())
