import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { Client, Worker } from 'faktory-worker'
import { Decoder, encodeRequest } from '@crossgear/gearman-codec'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { RedisServer } from '@crossgear/tools/redis-server'
import { submitByHand } from '../../bridge/support/gearman-by-hand.ts'
import { startGateway } from '../../support/gateway-process.ts'

/** A gateway under attack, with a healthy worker at each door that must be served all the while. */
export interface Victim {
  readonly pid: number
  readonly ports: { readonly gearman: number; readonly faktory: number; readonly web: number }
  /** Submits a job by each door and waits until it is done. Rejects where one is not. */
  served(): Promise<void>
  residentMegabytes(): number
  violations(): Promise<string[]>
  close(): Promise<void>
}

const gearmanFunction = 'healthy-gearman'
const faktoryFunction = 'healthy-faktory'

export async function startVictim(...words: string[]): Promise<Victim> {
  const server = await RedisServer.start()
  const anyPorts = ['--gearman-port', '0', '--faktory-port', '0', '--web-port', '0']
  const gateway = startGateway([...anyPorts, '--redis-url', `unix://${server.path}`, ...words])
  const { port } = await gateway.ready
  const ports = { gearman: port('gearman'), faktory: port('faktory'), web: port('web') }
  const echoing = await startEchoWorker(ports.gearman)
  const done: (() => void)[] = []
  const worker = new Worker({ host: '127.0.0.1', port: ports.faktory, concurrency: 1 })
  worker.register(faktoryFunction, () => done.shift()?.())
  await worker.work()
  const client = new Client({ host: '127.0.0.1', port: ports.faktory })
  const redis = server.connect()
  const pid = gateway.child.pid ?? 0
  return {
    pid,
    ports,
    async served() {
      const payload = Buffer.from('still there?')
      const outcome = await submitByHand(ports.gearman, gearmanFunction, payload, false)
      if (!outcome.succeeded || !outcome.output.equals(payload)) throw new Error('no echo')
      const handled = new Promise<void>((resolve) => done.push(resolve))
      await client.job(faktoryFunction).push()
      await handled
    },
    residentMegabytes() {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? NaN) / 1024
    },
    violations: () => checkInvariants(redis),
    async close() {
      echoing.destroy()
      await Promise.all([worker.stop(), client.close()])
      await gateway.end()
      await server.stop()
    },
  }
}

/** A Gearman worker that gives back what it gets. */
async function startEchoWorker(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const decoder = new Decoder()
  const grab = encodeRequest('GRAB_JOB')
  const answers: Readonly<Record<string, (args: readonly Buffer[]) => Buffer>> = {
    NOOP: () => grab,
    NO_JOB: () => encodeRequest('PRE_SLEEP'),
    JOB_ASSIGN: ([handle = '', , payload = '']) =>
      Buffer.concat([encodeRequest('WORK_COMPLETE', handle, payload), grab]),
  }
  socket.on('data', (chunk) => {
    decoder.push(chunk)
    for (let packet = decoder.next(); packet; packet = decoder.next()) {
      if (packet.name === 'TEXT') continue
      const answer = answers[packet.name]?.(packet.args)
      if (answer) socket.write(answer)
    }
  })
  socket.on('error', () => undefined)
  socket.write(Buffer.concat([encodeRequest('CAN_DO', gearmanFunction), grab]))
  return socket
}
