// The least that a Node server does for the loads of the generator but `bridge`: no broker, and nothing it keeps is ever read.
//   node main.mjs [SOCKET OF A REDIS]
// With a Redis, submissions, fetches and outcomes wait for one call a turn, of three commands each. Prints {"gearman","faktory"}: ports.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { serveFaktory } from './faktory.mjs'
import { serveGearman } from './gearman.mjs'
import { storeCalls } from './store-calls.mjs'

const [path] = process.argv.slice(2)
const stored = storeCalls(path)

/** @param {(socket: import('node:net').Socket) => void} serve */
async function listen(serve) {
  const server = createServer({ noDelay: true }, serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

const gearman = await listen(serveGearman(stored))
const faktory = await listen(serveFaktory(stored))
process.stdout.write(`${JSON.stringify({ gearman, faktory })}\n`)
