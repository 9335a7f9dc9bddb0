// A worker on the package gearmanode: gearmanode-worker.mjs PORT PREFIX [TIMEOUT-MS]. See README.md.
import gearmanode from 'gearmanode'
import { bytes, lineTaker, say } from './lines.mjs'

const [port, prefix, timeoutMs] = process.argv.slice(2)
const worker = gearmanode.worker({ host: '127.0.0.1', port: Number(port), withUnique: true })
const nextLine = lineTaker()

const functions = {
  // A result is text in this package; only data may be bytes.
  echo: (job) => {
    job.sendWorkData(job.payload)
    job.workComplete()
  },
  talk: (job) => {
    job.sendWorkData('one')
    job.sendWorkData(Buffer.from('t\0o'))
    job.reportWarning('careful')
    job.reportStatus(1, 4)
    job.workComplete('end')
  },
  fail: (job) => job.reportError(),
  boom: (job) => job.reportException('kaboom'),
  note: (job) => {
    say('got', bytes(job.payload))
    job.workComplete()
  },
  unique: (job) => job.workComplete(job.unique),
  // Runs until it is told to end by a line.
  hold: async (job) => {
    job.reportStatus(1, 4)
    say('holding', bytes(job.payload))
    await nextLine()
    job.workComplete(job.payload)
  },
}

worker.setWorkerId('gearmanode-worker')
for (const [name, run] of Object.entries(functions)) {
  const options = name === 'hold' && timeoutMs ? { timeout: timeoutMs } : {}
  worker.addFunction(`${prefix}-${name}`, run, options)
}
say('ready')
