import { connect } from 'node:net'

const submitJobBg = 18
const jobCreated = '\0RES\0\0\0\x08'

/** Submits a background job of each function `f1` to `f<count>` at a Gearman port. Resolves when all are accepted. */
export async function oneJobEach(port: number, count: number): Promise<void> {
  if (count === 0) return
  const socket = connect(port, '127.0.0.1')
  for (let number = 1; number <= count; number += 1) {
    const body = Buffer.from(`f${number}\0\0input`)
    const head = Buffer.from('\0REQ\0\0\0\0\0\0\0\0', 'latin1')
    head.writeUInt32BE(submitJobBg, 4)
    head.writeUInt32BE(body.length, 8)
    socket.write(Buffer.concat([head, body]))
  }
  let received = ''
  let accepted = 0
  for await (const chunk of socket) {
    const parts = (received + (chunk as Buffer).toString('latin1')).split(jobCreated)
    accepted += parts.length - 1
    received = parts.at(-1)?.slice(-jobCreated.length) ?? ''
    if (accepted >= count) break
  }
  socket.destroy()
}
