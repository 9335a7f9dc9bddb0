import { once } from 'node:events'
import { connect } from 'node:net'
import { Decoder, encodeRequest } from '@crossgear/gearman-codec'

/** How a client heard of its job: of its end, or in the background that it was taken. */
export interface Outcome {
  readonly succeeded: boolean
  readonly output: Buffer
}

/** Submits one job over a socket and waits for the packet that settles it. */
export async function submitByHand(
  port: number,
  fn: string,
  payload: Buffer,
  background: boolean,
): Promise<Outcome> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const decoder = new Decoder()
  socket.write(encodeRequest(background ? 'SUBMIT_JOB_BG' : 'SUBMIT_JOB', fn, '', payload))
  try {
    for await (const chunk of socket) {
      decoder.push(chunk as Buffer)
      for (let packet = decoder.next(); packet; packet = decoder.next()) {
        if (packet.name === 'TEXT') throw new Error(packet.line)
        const output = packet.args[1] ?? Buffer.alloc(0)
        if (packet.name === 'WORK_COMPLETE') return { succeeded: true, output }
        if (packet.name === 'JOB_CREATED' && background) return { succeeded: true, output }
        if (packet.name !== 'JOB_CREATED') return { succeeded: false, output }
      }
    }
    throw new Error('the gateway closed the connection')
  } finally {
    socket.destroy()
  }
}
