// A client on the package abraxas: abraxas-client.mjs PORT. See README.md.
import abraxas from 'abraxas'
import { bytes, obey, say } from './lines.mjs'

const client = abraxas.Client.connect({ host: '127.0.0.1', port: Number(process.argv[2]) })
// The package lets go of its socket when nothing is under way; the connection is for the program to keep.
const awake = setInterval(() => undefined, 1_000_000)
process.once('exit', () => clearInterval(awake))

function settled(task) {
  return new Promise((resolve) => {
    const chunks = []
    task.on('warn', (text) => say('warning', bytes(text)))
    task.on('status', (share) => say('share', share.toFixed(4)))
    task.on('data', (chunk) => chunks.push(chunk))
    task.once('end', () => {
      say('complete', bytes(Buffer.concat(chunks)))
      resolve()
    })
    task.once('error', (error) => {
      if (error.name === 'JobException') say('exception', bytes(error.message))
      else if (error.name === 'JobFail') say('fail')
      else say('error', error.name, error.message)
      task.removeAllListeners('end')
      resolve()
    })
  })
}

// An empty body has to be a buffer with a length: the package takes nothing at all for a stream to come.
const wait = (priority) => (fn, data) => settled(client.submitJob(fn, { priority }, data))

const submit = (priority) => async (fn, data, uniqueid) => {
  const task = client.submitJobBg(fn, { priority, uniqueid }, data)
  say('created', await task)
}

await obey({
  do: wait(null),
  high: wait('high'),
  low: wait('low'),
  bg: submit(null),
  'bg-high': submit('high'),
  'bg-low': submit('low'),
  later: async (fn, data, epoch, uniqueid) => {
    say('created', await client.submitJobAt(fn, Number(epoch), { uniqueid }, data))
  },
  set: (fn, data, count) =>
    Promise.all(
      Array.from({ length: Number(count) }, (_, i) =>
        settled(client.submitJob(fn, {}, Buffer.concat([data, Buffer.from(String(i))]))),
      ),
    ),
  status: (_fn, _data, handle) =>
    new Promise((resolve) => {
      client.getStatus(handle, (error, { known, running, complete }) => {
        if (error) say('error', error.message)
        else say('known', known, running, complete.toFixed(4))
        resolve()
      })
    }),
  figures: (fn) =>
    new Promise((resolve) => {
      client.status((_error, { [fn]: { inqueue, running, workers } }) => {
        say('figures', inqueue, running, workers)
        resolve()
      })
    }),
  ping: async (_fn, data) => {
    const heard = await client.echo(data)
    say('echo', data.equals(Buffer.from(heard)) ? 'Success' : bytes(heard))
  },
})
