// A worker of the npm package faktory-worker that knows one job type: resize-worker.mjs <port>.
import { Worker } from 'faktory-worker'

const worker = new Worker({ host: '127.0.0.1', port: Number(process.argv[2]), concurrency: 1 })
worker.on('fail', ({ job, error }) => process.send({ failed: job.jobtype, message: error.message }))
worker.register('resize', () => process.send({ did: 'resize' }))
await worker.work()
process.send({ said: 'ready' })
process.channel.unref()
