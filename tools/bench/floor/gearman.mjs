const headBytes = 12
const answerMagic = 0x00524553
const type = {
  preSleep: 4,
  noop: 6,
  submit: 7,
  created: 8,
  grab: 9,
  noJob: 10,
  assign: 11,
  complete: 13,
  submitBackground: 18,
  echo: 16,
  echoed: 17,
}
const nul = Buffer.from([0])

/** @param {number} kind @param {readonly Buffer[]} parts */
function packet(kind, ...parts) {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt32BE(answerMagic, 0)
  head.writeUInt32BE(kind, 4)
  head.writeUInt32BE(size, 8)
  return Buffer.concat([head, ...parts])
}

/** Collects what is written in a turn into one write. */
class Connection {
  #out = []
  #socket

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.#socket = socket
  }

  /** @param {Buffer} bytes */
  send(bytes) {
    if (this.#out.push(bytes) > 1) return
    setImmediate(() => {
      const out = this.#out
      this.#out = []
      this.#socket.write(out.length === 1 ? out[0] : Buffer.concat(out))
    })
  }
}

/**
 * Jobs between clients and workers of any function, first come first served.
 * @param {(done: () => void, input?: Buffer) => void} stored
 */
export function serveGearman(stored) {
  const noJob = packet(type.noJob)
  const noop = packet(type.noop)
  const queue = []
  const clients = new Map()
  const sleeping = new Set()
  let count = 0

  function submit(peer, body, waits) {
    const nameEnd = body.indexOf(0)
    const handle = Buffer.from(`H:floor:${++count}`)
    const input = body.subarray(body.indexOf(0, nameEnd + 1) + 1)
    const job = [handle, nul, body.subarray(0, nameEnd + 1), input]
    stored(() => {
      if (waits) clients.set(handle.latin1Slice(), peer)
      peer.send(packet(type.created, handle))
      queue.push(job)
      const [worker] = sleeping
      if (worker === undefined) return
      sleeping.delete(worker)
      worker.send(noop)
    }, input)
  }

  function complete(body) {
    const handle = body.latin1Slice(0, body.indexOf(0))
    const client = clients.get(handle)
    clients.delete(handle)
    const answer = packet(type.complete, body)
    stored(() => client?.send(answer))
  }

  function grab(peer) {
    const job = queue.shift()
    peer.send(job === undefined ? noJob : packet(type.assign, ...job))
  }

  function sleep(peer) {
    if (queue.length > 0) peer.send(noop)
    else sleeping.add(peer)
  }

  const acts = new Map([
    [type.submit, (peer, body) => submit(peer, body, true)],
    [type.submitBackground, (peer, body) => submit(peer, body, false)],
    [type.complete, (_, body) => complete(body)],
    [type.grab, grab],
    [type.preSleep, sleep],
    [type.echo, (peer, body) => peer.send(packet(type.echoed, body))],
  ])

  return (socket) => {
    const peer = new Connection(socket)
    let held = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('close', () => sleeping.delete(peer))
    socket.on('data', (chunk) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      let at = 0
      while (held.length - at >= headBytes) {
        const end = at + headBytes + held.readUInt32BE(at + 8)
        if (held.length < end) break
        acts.get(held.readUInt32BE(at + 4))?.(peer, held.subarray(at + headBytes, end))
        at = end
      }
      held = held.subarray(at)
    })
  }
}
