import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { StoreProbe } from '@crossgear/redis-store'
import pino from 'pino'
import { StartError } from '../../../errors.ts'
import { openStore, type OpenStore } from '../../../store/open-store.ts'
import type { Ports } from './loads.ts'

/** Time for one answer of the store, milliseconds. */
const answersWithinMs = 10_000

/** Answers how much processor time and memory the gateway has taken, and ends it with the process that asks. */
const reporter = `
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  gc()
  const { heapUsed, external } = process.memoryUsage()
  process.send({ cpuUs: user + system, heapBytes: heapUsed + external })
})
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel.unref()
`

/** Figures of both processes so far. */
export interface Spent {
  readonly gatewayUs: number
  readonly redisUs: number
  /** Bytes between gateway and Redis, both ways. */
  readonly traffic: number
  /** Memory that the gateway's heap needs, bytes. */
  readonly heapBytes: number
  /** Memory that Redis uses, bytes. */
  readonly redisBytes: number
}

interface ReadyLine {
  readonly msg?: string
  readonly doors?: readonly { readonly name: string; readonly port: number }[]
}

/** A gateway with a store of its own, both for these measurements alone. */
export class MeasuredGateway {
  readonly ports: Ports
  /** Name and version of the server. */
  readonly server: string
  /** Rejects when the gateway ends. */
  readonly ended: Promise<never>
  readonly #gateway: ChildProcess
  readonly #probe: StoreProbe
  readonly #close: () => Promise<void>

  private constructor(
    { gateway, ports }: StartedGateway,
    probe: StoreProbe,
    server: string,
    close: () => Promise<void>,
  ) {
    this.#gateway = gateway
    this.ended = once(gateway, 'exit').then(() => {
      throw new Error('its gateway ended')
    })
    this.ended.catch(() => undefined)
    // A question that it does not take says no more than its end.
    gateway.on('error', () => undefined)
    this.ports = ports
    this.#probe = probe
    this.server = server
    this.#close = close
  }

  /** @throws StartError */
  static async start(): Promise<MeasuredGateway> {
    const folder = await mkdtemp(join(tmpdir(), 'crossgear-capacity-'))
    const opened: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })]
    const close = async (): Promise<void> => {
      for (const one of opened.splice(0).toReversed()) await one()
    }
    try {
      const store = await ownStore(folder)
      opened.push(() => store.close())
      const started = await startGateway(folder)
      opened.push(() => endOf(started.gateway))
      const probe = await StoreProbe.open(store.address, answersWithinMs)
      opened.push(() => probe.end())
      const server = /^private (.*), data in/.exec(store.describe)?.[1] ?? store.describe
      return new MeasuredGateway(started, probe, server, close)
    } catch (error) {
      await close()
      throw error
    }
  }

  async spent(): Promise<Spent> {
    const answered = once(this.#gateway, 'message')
    this.#gateway.send('spent')
    const [own] = (await answered) as [{ readonly cpuUs: number; readonly heapBytes: number }]
    const info = String(await this.#probe.command('INFO', 'everything'))
    const figure = (name: string): number =>
      Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1])
    return {
      gatewayUs: own.cpuUs,
      redisUs: 1_000_000 * (figure('used_cpu_user') + figure('used_cpu_sys')),
      traffic: figure('total_net_input_bytes') + figure('total_net_output_bytes'),
      heapBytes: own.heapBytes,
      redisBytes: figure('used_memory'),
    }
  }

  /** Ends both, and removes their files. */
  close(): Promise<void> {
    return this.#close()
  }
}

/** The embedded store would be measured in place of Redis. */
async function ownStore(folder: string): Promise<OpenStore> {
  const log = pino({ level: 'silent' })
  const store = await openStore({ redisUrl: undefined, dataDir: folder, storePort: 'off' }, log)
  if (store.kind === 'private') return store
  await store.close()
  throw new StartError(
    'No redis-server or valkey-server is on PATH, and --capacity measures one of its own: install one.',
    1,
  )
}

interface StartedGateway {
  readonly gateway: ChildProcess
  readonly ports: Ports
}

/** Takes no settings of the surroundings: what is measured is the same everywhere. */
async function startGateway(folder: string): Promise<StartedGateway> {
  const [, program = ''] = process.argv
  const words = ['--data-dir', folder, '--gearman-port', '0', '--faktory-port', '0']
  const others = ['--http-port', 'off', '--web-port', 'off', '--log-format', 'json']
  // Jobs that are left are those of a load, whose workers have gone.
  others.push('--drain-seconds', '0')
  const gateway = fork(program, ['serve', ...words, ...others], {
    execArgv: [
      ...process.execArgv,
      '--expose-gc',
      '--import',
      `data:text/javascript,${encodeURIComponent(reporter)}`,
    ],
    env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'] },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let said = ''
  const lines = createInterface(gateway.stdout ?? Readable.from([]))
  gateway.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return await new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const { msg, doors = [] } = JSON.parse(line) as ReadyLine
      if (msg !== 'Ready.') {
        said = line
        return
      }
      const portOf = (door: string): number => doors.find(({ name }) => name === door)?.port ?? 0
      resolve({ gateway, ports: { gearman: portOf('gearman'), faktory: portOf('faktory') } })
    })
    gateway.once('exit', () => reject(new StartError(`The gateway ended: ${said.trim()}`, 1)))
  })
}

async function endOf(gateway: ChildProcess): Promise<void> {
  if (gateway.exitCode !== null || gateway.signalCode !== null) return
  const exited = once(gateway, 'exit')
  gateway.kill()
  await exited
}
