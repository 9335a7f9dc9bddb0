import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

const HEADER_BYTES = 12
const CAN_DO = 1
const PRE_SLEEP = 4
const NOOP = 6
const SUBMIT_JOB = 7
const JOB_CREATED = 8
const GRAB_JOB = 9
const NO_JOB = 10
const JOB_ASSIGN = 11
const WORK_COMPLETE = 13
const ECHO_REQ = 16
const ECHO_RES = 17
const SUBMIT_JOB_BG = 18
const NUL = Buffer.alloc(1)

/** What a server does wrong. */
export interface Fault {
  /** Another payload for the job that was the `place`-th to be submitted. */
  readonly assigned?: (payload: Buffer, place: number, all: readonly Buffer[]) => Buffer
  /** Another result for the client. */
  readonly result?: (result: Buffer, place: number) => Buffer
  /** How often the client hears of the end of a job. */
  readonly heard?: (place: number) => number
}

function packet(type: number, ...body: readonly Buffer[]): Buffer {
  const data = Buffer.concat(body)
  const header = Buffer.from('\0RES\0\0\0\0\0\0\0\0', 'latin1')
  header.writeUInt32BE(type, 4)
  header.writeUInt32BE(data.length, 8)
  return Buffer.concat([header, data])
}

/** A Gearman server just good enough for the load generator, with a fault. */
export class FaultyServer {
  readonly #fault: Fault
  readonly #server = createServer((socket) => this.#serve(socket))
  readonly #payloads: Buffer[] = []
  readonly #clients = new Map<string, Socket>()
  readonly #sleepers = new Set<Socket>()
  #assigned = 0

  constructor(fault: Fault) {
    this.#fault = fault
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
  }

  #serve(socket: Socket): void {
    let held: Buffer = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      while (held.length >= HEADER_BYTES) {
        const end = HEADER_BYTES + held.readUInt32BE(8)
        if (held.length < end) return
        this.#answer(socket, held.readUInt32BE(4), held.subarray(HEADER_BYTES, end))
        held = held.subarray(end)
      }
    })
  }

  #answer(socket: Socket, type: number, body: Buffer): void {
    if (type === CAN_DO) return
    if (type === PRE_SLEEP) this.#sleep(socket)
    else if (type === ECHO_REQ) socket.write(packet(ECHO_RES, body))
    else if (type === SUBMIT_JOB || type === SUBMIT_JOB_BG) this.#submit(socket, body)
    else if (type === GRAB_JOB) this.#assign(socket)
    else if (type === WORK_COMPLETE) this.#complete(body)
  }

  #submit(socket: Socket, body: Buffer): void {
    const handle = `H:faulty:${this.#payloads.length}`
    this.#payloads.push(body.subarray(body.indexOf(0, body.indexOf(0) + 1) + 1))
    this.#clients.set(handle, socket)
    socket.write(packet(JOB_CREATED, Buffer.from(handle)))
    this.#wake()
  }

  #sleep(socket: Socket): void {
    this.#sleepers.add(socket)
    if (this.#assigned < this.#payloads.length) this.#wake()
  }

  #wake(): void {
    for (const sleeper of this.#sleepers) sleeper.write(packet(NOOP))
    this.#sleepers.clear()
  }

  #assign(socket: Socket): void {
    const place = this.#assigned
    const payload = this.#payloads[place]
    if (payload === undefined) {
      socket.write(packet(NO_JOB))
      return
    }
    this.#assigned++
    const shown = this.#fault.assigned?.(payload, place, this.#payloads) ?? payload
    const handle = Buffer.from(`H:faulty:${place}`)
    socket.write(packet(JOB_ASSIGN, handle, NUL, Buffer.from('bench'), NUL, shown))
  }

  #complete(body: Buffer): void {
    const handle = body.subarray(0, body.indexOf(0)).toString()
    const place = Number(handle.split(':')[2])
    const result = body.subarray(body.indexOf(0) + 1)
    const shown = this.#fault.result?.(result, place) ?? result
    const times = this.#fault.heard?.(place) ?? 1
    const told = packet(WORK_COMPLETE, Buffer.from(handle), NUL, shown)
    for (let i = 0; i < times; i++) this.#clients.get(handle)?.write(told)
  }
}
