import { Scheduler } from '@crossgear/core-scheduler'
import { ManualClock, MemoryWorld, RecordingObserver } from '@crossgear/store-testkit'
import { HttpDoor } from '../../../src/http/http-door.ts'
import { systemClock } from '../../../src/net/clock.ts'
import { HandedPorts } from '../../../src/cluster/handed-ports.ts'
import { ParentLink } from '../../../src/cluster/parent-link.ts'

// A process with an HTTP door that is soon tired of slow clients. Its parent hands it connections.
const ports = new HandedPorts((message) => link.send(message))
const link = new ParentLink({
  start: () => undefined,
  connection: (connection, socket) => ports.take(connection, socket),
  end: () => process.exit(),
})
const scheduler = new Scheduler(
  new MemoryWorld(new ManualClock()).join(),
  systemClock,
  new RecordingObserver(),
)
await scheduler.start()
const door = new HttpDoor({
  scheduler,
  ...{ host: '127.0.0.1', port: 0, handlePrefix: 'H:test', version: '0.1.0', maxConnections: 100 },
  ...{ headMs: 600, requestMs: 1200, idleMs: 300, sockets: { open: ports.open } },
})
await door.listen()
link.send({ what: 'prepared', names: ['http'], portRequests: ports.portRequests })
