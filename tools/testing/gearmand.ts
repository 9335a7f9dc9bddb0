import { type Priority, submissionName } from '@crossgear/gearman-codec'
import { GearmanConnection } from '@crossgear/peers'
import { freePort } from './free-port.ts'
import { type Lacking, lacks } from './lacks.ts'
import { OwnProcess } from './own-process.ts'
import { waitFor } from './wait-for.ts'

const program = '/usr/sbin/gearmand'

/** True where gearmand is not installed; in CI never. */
export const lacksGearmand: Lacking = lacks(program, '--version')

/** A background job. */
export interface Submission {
  readonly fn: string
  readonly unique: string
  readonly data: Buffer
  readonly priority?: Priority
  /** Seconds since 1970. */
  readonly epoch?: number
}

/** A real gearmand of the test's own. */
export class Gearmand extends OwnProcess {
  readonly port: number

  private constructor(port: number, words: readonly string[]) {
    const listen = ['--port', String(port), '--listen', '127.0.0.1', '--log-file', 'stderr']
    super(program, [...listen, ...words], { stdio: ['ignore', 'ignore', 'pipe'] })
    this.port = port
  }

  static async start(...words: readonly string[]): Promise<Gearmand> {
    return Gearmand.startAt(await freePort(), ...words)
  }

  static async startAt(port: number, ...words: readonly string[]): Promise<Gearmand> {
    const gearmand = new Gearmand(port, words)
    let error = ''
    gearmand.child.stderr?.on('data', (chunk: Buffer) => (error += chunk.toString()))
    await waitFor('gearmand answers', async () => {
      if (gearmand.hasExited) throw new Error(`gearmand ended: ${error}`)
      return gearmand.line('version').then(Boolean, () => false)
    })
    return gearmand
  }

  connect(): Promise<GearmanConnection> {
    return GearmanConnection.open(this)
  }

  /** The line of answer to a text command. */
  line(command: string): Promise<string> {
    return this.#ask((connection) => connection.line(command))
  }

  /** Submits jobs, each acknowledged. */
  submit(jobs: readonly Submission[]): Promise<void> {
    return this.#ask(async (connection) => {
      for (const { fn, unique, data, priority = 'normal', epoch } of jobs) {
        if (epoch === undefined) connection.send(submissionName(priority, true), fn, unique, data)
        else connection.send('SUBMIT_JOB_EPOCH', fn, unique, String(epoch), data)
      }
      for (let left = jobs.length; left > 0; left -= 1) await connection.packet()
    })
  }

  /** The jobs that it has, of one function or of all. */
  async jobs(fn?: string): Promise<number> {
    const rows = await this.#ask((connection) => connection.lines('status'))
    return rows
      .map((row) => row.split('\t'))
      .filter(([name]) => fn === undefined || name === fn)
      .reduce((sum, [, count]) => sum + Number(count), 0)
  }

  async #ask<Answer>(ask: (connection: GearmanConnection) => Promise<Answer>): Promise<Answer> {
    const connection = await this.connect()
    try {
      return await ask(connection)
    } finally {
      await connection.end()
    }
  }
}
