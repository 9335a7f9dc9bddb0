// A worker on the package abraxas: abraxas-worker.mjs PORT PREFIX [TIMEOUT-MS]. See README.md.
import abraxas from 'abraxas'
import { bytes, lineTaker, say } from './lines.mjs'

const [port, prefix, timeoutMs] = process.argv.slice(2)
const client = abraxas.Client.connect({ host: '127.0.0.1', port: Number(port) })
const nextLine = lineTaker()

const functions = {
  echo: (task) => task.payload,
  // The package collects data until the end.
  talk: (task) => {
    task.warn('careful')
    task.status(1 / 4)
    task.write('one')
    task.write(Buffer.from('t\0o'))
    task.end('end')
  },
  fail: () => new Error('failed'),
  boom: () => new Error('kaboom'),
  note: (task) => {
    say('got', bytes(task.payload))
    task.end()
  },
  unique: (task) => task.end(task.uniqueid),
  // Runs until it is told to end by a line.
  hold: async (task) => {
    task.status(1 / 4)
    say('holding', bytes(task.payload))
    await nextLine()
    task.end(task.payload)
  },
}

client.setClientId('abraxas-worker')
for (const [name, run] of Object.entries(functions)) {
  const options = name === 'hold' && timeoutMs ? { timeout: timeoutMs } : {}
  client.registerWorker(`${prefix}-${name}`, options, run)
}
say('ready')
