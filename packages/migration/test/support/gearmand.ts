import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { submissionName } from '@crossgear/gearman-codec'
import { type Lacking, lacks } from '@crossgear/tools/lacks'
import { freePort } from '@crossgear/tools/free-port'
import { waitFor } from '@crossgear/tools/wait-for'
import { GearmanConnection } from '@crossgear/peers'

const program = '/usr/sbin/gearmand'

/** True where gearmand is not installed; in CI never. */
export const lacksGearmand: Lacking = lacks(program, '--version')

export interface Submission {
  readonly fn: string
  readonly unique: string
  readonly data: Buffer
  readonly priority?: 'high' | 'normal' | 'low'
  /** Seconds since 1970. */
  readonly epoch?: number
}

/** A real gearmand of the test's own. */
export class Gearmand {
  readonly port: number
  readonly #child: ReturnType<typeof spawn>

  private constructor(port: number, child: ReturnType<typeof spawn>) {
    this.port = port
    this.#child = child
  }

  static async start(...words: readonly string[]): Promise<Gearmand> {
    return Gearmand.startAt(await freePort(), ...words)
  }

  static async startAt(port: number, ...words: readonly string[]): Promise<Gearmand> {
    const listen = ['--port', String(port), '--listen', '127.0.0.1', '--log-file', 'stderr']
    const child = spawn(program, [...listen, ...words], { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const gearmand = new Gearmand(port, child)
    await waitFor('gearmand answers', async () => {
      if (child.exitCode !== null) throw new Error(`gearmand ended: ${said}`)
      return gearmand.connect().then(
        (connection) => connection.end().then(() => true),
        () => false,
      )
    })
    return gearmand
  }

  connect(): Promise<GearmanConnection> {
    return GearmanConnection.open(this)
  }

  /** Submits background jobs, each acknowledged. */
  async submit(jobs: readonly Submission[]): Promise<void> {
    const connection = await this.connect()
    for (const { fn, unique, data, priority = 'normal', epoch } of jobs) {
      if (epoch === undefined) connection.send(submissionName(priority, true), fn, unique, data)
      else connection.send('SUBMIT_JOB_EPOCH', fn, unique, String(epoch), data)
    }
    for (let left = jobs.length; left > 0; left -= 1) await connection.packet()
    await connection.end()
  }

  stop(): Promise<void> {
    return this.#end('SIGTERM')
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill(signal)
    await exited
  }
}

/** Jobs that a gearmand has queued, which ends it. */
export async function jobsIn(gearmand: Gearmand): Promise<number> {
  try {
    const connection = await gearmand.connect()
    const lines = await connection.lines('status')
    await connection.end()
    return lines.reduce((sum, line) => sum + Number(line.split('\t')[1]), 0)
  } finally {
    await gearmand.stop()
  }
}
