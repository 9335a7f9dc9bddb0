import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Decoder, encodeRequest, type Packet } from '@crossgear/gearman-codec'

const connectingAtOnce = 200
const canGrab = encodeRequest('GRAB_JOB')
const sleep = encodeRequest('PRE_SLEEP')
const echo = encodeRequest('ECHO_REQ', 'x')

/** A connection to the Gearman door that hands every packet to `hear`. */
class Line {
  readonly socket: Socket
  readonly #decoder = new Decoder()

  private constructor(socket: Socket, hear: (line: Line, packet: Packet) => void) {
    this.socket = socket
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      this.#decoder.push(chunk)
      for (let packet = this.#decoder.next(); packet; packet = this.#decoder.next()) {
        if (packet.name !== 'TEXT') hear(this, packet)
      }
    })
  }

  static async open(port: number, hear: (line: Line, packet: Packet) => void): Promise<Line> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Line(socket, hear)
  }
}

/** Many sleeping workers for one function, and a client that hands in one job after the other. */
export class IdleWorkers {
  /** NOOPs heard since the last job was handed in. */
  woken = 0
  /** Payloads of all jobs that were given out. */
  readonly done: string[] = []
  readonly #workers: Line[] = []
  readonly #client: Promise<Line>
  readonly #port: number
  readonly #fn: string
  #echoes = 0
  #given: () => void = () => undefined
  #change: () => void = () => undefined

  constructor(port: number, fn: string) {
    this.#port = port
    this.#fn = fn
    this.#client = Line.open(port, () => undefined)
  }

  /** Connects workers until there are so many, all asleep. */
  async grow(count: number): Promise<void> {
    while (this.#workers.length < count) {
      const some = Math.min(connectingAtOnce, count - this.#workers.length)
      const opening = Array.from({ length: some }, () =>
        Line.open(this.#port, (line, packet) => this.#hear(line, packet)),
      )
      for (const line of await Promise.all(opening)) {
        line.socket.write(Buffer.concat([encodeRequest('CAN_DO', this.#fn), sleep]))
        this.#workers.push(line)
      }
    }
    await this.settle()
  }

  /**
   * Hands in a background job. Resolves when a worker has it, with how long that took in ms.
   * Which workers were woken is known when they have settled.
   */
  async wakeUp(payload: string): Promise<number> {
    this.woken = 0
    const given = new Promise<void>((resolve) => (this.#given = resolve))
    const { socket } = await this.#client
    const start = performance.now()
    socket.write(encodeRequest('SUBMIT_JOB_BG', this.#fn, '', payload))
    await given
    return performance.now() - start
  }

  /** Resolves when so many workers have been woken by the last job. */
  async allWoken(count: number): Promise<void> {
    while (this.woken < count) await new Promise<void>((resolve) => (this.#change = resolve))
  }

  /** Resolves when all is handled that was under way, and all sleep again. */
  async settle(): Promise<void> {
    // First the answers to GRAB_JOB come in, then those who got none sleep.
    await this.#echoAll()
    await this.#echoAll()
  }

  async #echoAll(): Promise<void> {
    this.#echoes = 0
    for (const { socket } of this.#workers) socket.write(echo)
    while (this.#echoes < this.#workers.length) {
      await new Promise<void>((resolve) => (this.#change = resolve))
    }
  }

  async close(): Promise<void> {
    for (const { socket } of [...this.#workers, await this.#client]) socket.destroy()
  }

  #hear({ socket }: Line, { name, args }: Packet): void {
    if (name === 'NOOP') {
      this.woken += 1
      socket.write(canGrab)
      this.#change()
    } else if (name === 'NO_JOB') {
      socket.write(sleep)
    } else if (name === 'ECHO_RES') {
      this.#echoes += 1
      this.#change()
    } else if (name === 'JOB_ASSIGN') {
      const [handle = '', , payload] = args
      this.#given()
      this.done.push(String(payload))
      socket.write(Buffer.concat([encodeRequest('WORK_COMPLETE', handle, ''), sleep]))
    }
  }
}
