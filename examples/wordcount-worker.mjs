// A Faktory worker that counts words for whoever asks. It answers with a `result`, so that Gearman
// clients in the foreground see the count.
import { Worker } from 'faktory-worker'

// The label asks for this function's jobs alone: those of other examples wait for their own workers.
const worker = new Worker({ concurrency: 4, labels: ['fn:wordcount'] })
const results = new Map()

worker.register('wordcount', (text) => ({ job }) => {
  const count = text.split(/\s+/).filter(Boolean).length
  results.set(job.jid, String(count))
  console.error(`${job.jid}: ${count} words`)
})

worker.client.ack = (jid) => {
  const result = results.get(jid)
  results.delete(jid)
  return worker.client.sendWithAssert(['ACK', JSON.stringify({ jid, result })], 'OK')
}

// TERM (`kill`), INT (Ctrl-C) or an order of the gateway ends it. A FETCH that is under way then may still
// bring a job: it is waited for, and the job is done, before the connections are closed.
let fetching
worker.fetch = () => (fetching = Worker.prototype.fetch.call(worker))
worker.stop = async () => {
  worker.quiet()
  await fetching?.catch(() => undefined)
  await Worker.prototype.stop.call(worker)
}

await worker.work()
