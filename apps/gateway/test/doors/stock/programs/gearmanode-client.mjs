// A client on the package gearmanode: gearmanode-client.mjs PORT. See README.md.
import gearmanode from 'gearmanode'
import { bytes, obey, say } from './lines.mjs'

const client = gearmanode.client({ host: '127.0.0.1', port: Number(process.argv[2]) })
client.on('error', (error) => say('error', error.message))
const [server] = client.jobServers
/** Background jobs by handle: the package asks for the status of a job that it submitted. */
const submitted = new Map()
let patienceMs = 0

const exceptionsOn = new Promise((resolve) => server.once('option', resolve))
server.setOption('exceptions')
await exceptionsOn

/** Resolves when the job has ended or patience has. */
function settled(job) {
  return new Promise((resolve) => {
    const end = (...words) => {
      say(...words)
      job.removeAllListeners()
      resolve()
    }
    job.on('workData', (data) => say('data', bytes(data)))
    job.on('warning', (data) => say('warning', bytes(data)))
    job.on('status', (at) => say('status', at.percent_done_num, at.percent_done_den))
    job.on('complete', () => end('complete', bytes(job.response)))
    job.on('exception', (data) => end('exception', bytes(data)))
    job.on('failed', () => end('fail'))
    if (patienceMs > 0) setTimeout(() => end('timeout'), patienceMs)
  })
}

const wait = (priority) => (fn, data) => settled(client.submitJob(fn, data, { priority }))

const submit = (priority) => (fn, data, unique) => {
  const job = client.submitJob(fn, data, { priority, unique, background: true })
  return new Promise((resolve) => {
    job.once('created', () => {
      submitted.set(job.handle, job)
      say('created', job.handle)
      resolve()
    })
  })
}

await obey({
  do: wait('NORMAL'),
  high: wait('HIGH'),
  low: wait('LOW'),
  bg: submit('NORMAL'),
  'bg-high': submit('HIGH'),
  'bg-low': submit('LOW'),
  set: (fn, data, count) =>
    Promise.all(
      Array.from({ length: Number(count) }, (_, i) =>
        settled(client.submitJob(fn, Buffer.concat([data, Buffer.from(String(i))]))),
      ),
    ),
  status: (_fn, _data, handle) =>
    new Promise((resolve) => {
      const job = submitted.get(handle)
      job.once('status', ({ known, running, percent_done_num: done, percent_done_den: of }) => {
        say('known', Number(known), Number(running), done, of)
        resolve()
      })
      job.getStatus()
    }),
  ping: (_fn, data) =>
    new Promise((resolve) => {
      server.once('echo', (text) => {
        say('echo', text === data.toString() ? 'Success' : text)
        resolve()
      })
      server.echo(data.toString())
    }),
  patience: (_fn, _data, ms) => {
    patienceMs = Math.max(0, Number(ms))
  },
})
