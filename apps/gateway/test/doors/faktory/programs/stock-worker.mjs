// A worker of the npm package faktory-worker, as its README has it: stock-worker.mjs <port> <wid>.
// A stock worker tells its parent what it does, and each job ends when the parent says so.
import { once } from 'node:events'
import { Worker } from 'faktory-worker'

const [, , port, wid] = process.argv
const worker = new Worker({
  host: '127.0.0.1',
  port: Number(port),
  wid,
  concurrency: 2,
  beatInterval: 0.05,
  queues: ['critical', 'default'],
})

worker.use(async (context, next) => {
  process.send({ said: 'before', jobtype: context.job.jobtype })
  await next()
  process.send({ said: 'after', jobtype: context.job.jobtype })
})
worker.register('wait', async (name) => {
  process.send({ said: 'started', name })
  for (;;) {
    const [released] = await once(process, 'message')
    if (released === name) return
  }
})
worker.quiet = () => {
  Worker.prototype.quiet.call(worker)
  process.send({ said: 'quiet' })
}

await worker.work()
process.send({ said: 'ready' })
// The channel to the parent must not keep a worker alive that has stopped.
process.channel.unref()
