import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Cells } from './report/histogram.ts'
import type { Server } from './servers.ts'

const sourceFiles = fileURLToPath(new URL('./load/', import.meta.url))
const compiler = 'cc'

/** The kind of load of a phase: see `load/main.c`. */
export type Mode =
  | 'foreground'
  | 'submit'
  | 'drain'
  | 'both'
  | 'push'
  | 'work'
  | 'cycle'
  | 'bridge'
  | 'apart'

/**
 * Settings of a phase. Defaults: 4 clients, 4 workers, a window of 100, 100 bytes and 30 seconds.
 */
export interface Phase {
  readonly jobs: number
  readonly clients?: number
  readonly workers?: number
  /** Jobs in progress per client. */
  readonly window?: number
  /** Bytes of a payload. */
  readonly size?: number
  /** True if each job has a unique id. */
  readonly unique?: boolean
  readonly function?: string
  /** Faktory queues that jobs go to in turn. 1. */
  readonly queues?: number
  /** Seconds without progress after which the phase has failed. */
  readonly stall_s?: number
}

/** Measurements of the load generator. */
export interface Measured {
  readonly seconds: number
  /** Empty unless clients waited for results. */
  readonly latency: Cells
}

interface Answer extends Measured {
  readonly created: number
  readonly worked: number
  readonly heard: number
  readonly unworked: number
  readonly twice: number
  readonly wrong: number
}

const submits = new Set<Mode>(['submit', 'push'])
const drains = new Set<Mode>(['drain', 'work'])
const hears = new Set<Mode>(['foreground', 'bridge'])

/** The compiled load generator, in a folder removed with this process or by `remove`. */
export class LoadGenerator {
  readonly #folder: string
  readonly #program: string

  private constructor(folder: string) {
    this.#folder = folder
    this.#program = join(folder, 'load')
  }

  /** Compiles the sources in `load`. */
  static compile(): LoadGenerator {
    const generator = new LoadGenerator(mkdtempSync(join(tmpdir(), 'crossgear-load-')))
    process.once('exit', () => generator.remove())
    const sources = readdirSync(sourceFiles).filter((name) => name.endsWith('.c'))
    const words = ['-O2', '-pthread', '-o', generator.#program, ...sources]
    const { status, stderr } = spawnSync(compiler, words, { cwd: sourceFiles, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${compiler} cannot compile the load generator: ${stderr}`)
    return generator
  }

  /** Removes the program; running drivers go on. */
  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** A process that drives one server with at most `capacity` jobs in total. */
  drive(server: Server, capacity: number, largestPayload = 100): Driver {
    return new Driver(this.#program, server, capacity, largestPayload)
  }
}

/** Drives one server, phase after phase, and knows the fate of every job of all phases. */
export class Driver {
  readonly #child
  readonly #lines: AsyncIterator<string>
  readonly #server: Server
  /** Submitted jobs that have not run. */
  #waiting = 0

  constructor(program: string, server: Server, capacity: number, largestPayload: number) {
    this.#server = server
    this.#child = spawn(program, [String(capacity), String(largestPayload)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]()
  }

  /**
   * Runs one phase. Rejects if a job was lost, done twice, or returned other bytes: figures of such
   * a run mean nothing.
   */
  async run(mode: Mode, phase: Phase): Promise<Measured> {
    this.#write(mode, phase)
    const answer = await this.#answer<Answer>(mode)
    if (submits.has(mode)) this.#waiting += phase.jobs
    if (drains.has(mode)) this.#waiting -= phase.jobs
    const missing = answer.unworked - this.#waiting
    const unheard = hears.has(mode) ? phase.jobs - answer.heard : 0
    if (missing !== 0 || unheard !== 0 || answer.twice > 0 || answer.wrong > 0) {
      const counts = `${missing} missing, ${unheard} unheard, ${answer.twice} twice, ${answer.wrong} wrong`
      throw new Error(`${this.#server.name} did not do each job exactly once (${mode}): ${counts}`)
    }
    return answer
  }

  /** Holds sleeping workers while `meanwhile` runs. */
  async withIdleWorkers<T>(workers: number, meanwhile: () => Promise<T>): Promise<T> {
    this.#write('rest', { jobs: 0, workers })
    await this.#answer('rest')
    const result = await meanwhile()
    this.#child.stdin.write('\n')
    return result
  }

  async stop(): Promise<void> {
    this.#child.stdin.end()
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
  }

  #write(mode: string, phase: Phase): void {
    const ports = { port: this.#server.port, faktory_port: this.#server.faktoryPort }
    const settings = Object.entries({ ...ports, ...phase })
    const words = settings.map(
      ([key, value]) => `${key}=${typeof value === 'boolean' ? Number(value) : value}`,
    )
    this.#child.stdin.write(`${mode} ${words.join(' ')}\n`)
  }

  async #answer<T>(mode: string): Promise<T> {
    const line = await this.#lines.next()
    if (line.done === true) throw new Error(`the load on ${this.#server.name} broke off (${mode})`)
    return JSON.parse(line.value) as T
  }
}
