import type {
  JobEvent,
  JobRef,
  NewJob,
  Scheduler,
  Submission,
  Submitted,
  Waiter,
} from '@crossgear/core-scheduler'
import { LineDecoder } from '@crossgear/fwp-codec'
import type { Census } from '../../../src/doors/net/census.ts'
import {
  Connection,
  type ConnectionHandler,
  type WorkLeft,
} from '../../../src/doors/net/connection.ts'
import type { Door } from '../../../src/doors/net/door.ts'
import type { DoorParts } from '../../../src/doors/net/door-row.ts'
import { Listener } from '../../../src/doors/net/listener.ts'
import type { ReplySlot } from '../../../src/doors/net/reply-slots.ts'

/** The function of all lines. */
const fn = 'echo'

/** A line that came, until its answer leaves. */
class Line implements Submission, Waiter {
  readonly job: NewJob
  readonly waiter = this
  readonly #slot: ReplySlot
  readonly #session: Session

  constructor(input: Buffer, session: Session, slot: ReplySlot) {
    this.job = { input, door: 'echo', level: 5, foreground: true }
    this.#session = session
    this.#slot = slot
  }

  get gone(): boolean {
    return this.#session.gone
  }

  submitted(result: Submitted): void {
    if (!('id' in result)) this.refused()
  }

  refused(): void {
    this.#slot.fill(Buffer.from('\n'))
  }

  onEvent(_ref: JobRef, event: JobEvent): void {
    if (event.kind === 'complete') this.#slot.fill(Buffer.concat([event.output, Buffer.from('\n')]))
    else if (event.kind === 'fail') this.refused()
  }
}

class Session implements ConnectionHandler {
  gone = false
  readonly #decoder = new LineDecoder()
  readonly #connection: Connection
  readonly #scheduler: Scheduler

  constructor(connection: Connection, scheduler: Scheduler) {
    this.#connection = connection
    this.#scheduler = scheduler
  }

  data(chunk: Buffer): void {
    this.#decoder.push(chunk)
  }

  work(max: number): WorkLeft {
    for (let taken = 0; taken < max; taken += 1) {
      const line = this.#decoder.next()
      if (!line) return 'none'
      this.#scheduler.submit(fn, new Line(line, this, this.#connection.reserve()))
    }
    return 'some'
  }

  closed(): void {
    this.gone = true
  }
}

export function buildEcho(parts: DoorParts<object>): Door {
  const { host, port, sockets, maxConnections, connectionLimits, hooks } = parts
  const listener = new Listener({
    host,
    port,
    sockets,
    maxConnections,
    portFlag: '--echo-port',
    allowHalfOpen: true,
    connected: (socket) => {
      const handlerOf = (connection: Connection) => new Session(connection, parts.scheduler)
      new Connection(socket, handlerOf, connectionLimits, hooks.dropped, hooks.heldBack)
    },
    opened: hooks.connected,
    closed: hooks.closed,
  })
  const census = (): Census => {
    const none = new Map<string, never>()
    const clients = listener.connections
    return { ...listener.traffic(), clients, byFunction: none, byQueue: none }
  }
  return {
    name: 'echo',
    get address() {
      return listener.address
    },
    listen: () => listener.listen(),
    stopAccepting: () => listener.stopAccepting(),
    drain: () => listener.stopAccepting(),
    census,
    connectedWorkers: () => [],
    close: () => listener.close(),
  }
}
