import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

const headerBytes = 12
const canDo = 1
const preSleep = 4
const noop = 6
const submitJob = 7
const jobCreated = 8
const grabJob = 9
const noJob = 10
const jobAssign = 11
const workComplete = 13
const echoReq = 16
const echoRes = 17
const submitJobBg = 18
const nul = Buffer.alloc(1)

/** The faults of a server. */
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
      while (held.length >= headerBytes) {
        const end = headerBytes + held.readUInt32BE(8)
        if (held.length < end) return
        this.#answer(socket, held.readUInt32BE(4), held.subarray(headerBytes, end))
        held = held.subarray(end)
      }
    })
  }

  #answer(socket: Socket, type: number, body: Buffer): void {
    if (type === canDo) return
    if (type === preSleep) this.#sleep(socket)
    else if (type === echoReq) socket.write(packet(echoRes, body))
    else if (type === submitJob || type === submitJobBg) this.#submit(socket, body)
    else if (type === grabJob) this.#assign(socket)
    else if (type === workComplete) this.#complete(body)
  }

  #submit(socket: Socket, body: Buffer): void {
    const handle = `H:faulty:${this.#payloads.length}`
    this.#payloads.push(body.subarray(body.indexOf(0, body.indexOf(0) + 1) + 1))
    this.#clients.set(handle, socket)
    socket.write(packet(jobCreated, Buffer.from(handle)))
    this.#wake()
  }

  #sleep(socket: Socket): void {
    this.#sleepers.add(socket)
    if (this.#assigned < this.#payloads.length) this.#wake()
  }

  #wake(): void {
    for (const sleeper of this.#sleepers) sleeper.write(packet(noop))
    this.#sleepers.clear()
  }

  #assign(socket: Socket): void {
    const place = this.#assigned
    const payload = this.#payloads[place]
    if (payload === undefined) {
      socket.write(packet(noJob))
      return
    }
    this.#assigned++
    const shown = this.#fault.assigned?.(payload, place, this.#payloads) ?? payload
    const handle = Buffer.from(`H:faulty:${place}`)
    socket.write(packet(jobAssign, handle, nul, Buffer.from('bench'), nul, shown))
  }

  #complete(body: Buffer): void {
    const handle = body.subarray(0, body.indexOf(0)).toString()
    const place = Number(handle.split(':')[2])
    const result = body.subarray(body.indexOf(0) + 1)
    const shown = this.#fault.result?.(result, place) ?? result
    const times = this.#fault.heard?.(place) ?? 1
    const told = packet(workComplete, Buffer.from(handle), nul, shown)
    for (let i = 0; i < times; i++) this.#clients.get(handle)?.write(told)
  }
}
