// A worker of the npm package faktory-worker that never ends its jobs: held-job-worker.mjs <port> <job type> <queue>.
import { Worker } from 'faktory-worker'

const [port, jobtype, queue] = process.argv.slice(2)
const worker = new Worker({
  host: '127.0.0.1',
  port: Number(port),
  queues: [queue],
  concurrency: 1,
})
worker.register(jobtype, () => new Promise(() => undefined))
await worker.work()
