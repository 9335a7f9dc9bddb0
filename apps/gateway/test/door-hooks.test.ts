import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { doorHooks } from '../src/lifecycle/door-hooks.ts'
import { observeWith } from '../src/lifecycle/observe.ts'
import { Listener } from '../src/net/listener.ts'
import { Peer } from '../src/net/peer.ts'
import { Metrics } from '../src/web/metrics.ts'
import { recordingLog } from './support/recording-log.ts'

it('a connection that is ended for a fault of the gateway is told of in the log', async () => {
  const { log, lines } = recordingLog()
  const metrics = new Metrics()
  const observer = observeWith(metrics, log)
  const { dropped } = doorHooks('faktory', { metrics: metrics.door('faktory'), log, observer })
  const handler = {
    data: () => {
      throw new Error('there is a mistake')
    },
    closed: () => undefined,
  }
  const listener = new Listener({
    ...{ host: '127.0.0.1', port: 0, portFlag: '--port', maxConnections: 10 },
    connected: (socket) => {
      new Peer(socket, () => handler, {}, dropped)
    },
  })
  onTestFinished(() => listener.close())
  const { port } = await listener.listen()
  const socket = connect(port, '127.0.0.1').resume()
  socket.write('x')
  await once(socket, 'close')
  expect(lines).toEqual([
    'Turned away at the faktory port: error.',
    'A faktory connection: there is a mistake',
    'Where it came from.',
  ])
})
