import { OwnProcess } from '@crossgear/tools/own-process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '@crossgear/tools/free-port'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { waitFor } from '@crossgear/tools/wait-for'
import type { Way } from '../peers/doors.ts'

export interface GatewayOptions {
  readonly name: string
  readonly folder: string
  readonly storeUrl: string
  readonly words: readonly string[]
  /** Words for node, such as a module to load first. */
  readonly nodeWords?: readonly string[]
  /** Words for Node that run it. As it is built here. */
  readonly program?: readonly string[]
}

/** A gateway: the real program, with the same ports after a restart. */
export class Gateway implements Way {
  readonly node: string
  readonly gearman: number
  readonly faktory: number
  readonly web: number
  /** The program of the next start. */
  program: readonly string[]
  readonly #options: GatewayOptions
  #process: OwnProcess | undefined
  #reloads = 0

  private constructor(options: GatewayOptions, ports: readonly [number, number, number]) {
    this.#options = options
    this.node = options.name
    this.program = options.program ?? bundleWords()
    ;[this.gearman, this.faktory, this.web] = ports
  }

  static async start(options: GatewayOptions): Promise<Gateway> {
    const ports = [await freePort(), await freePort(), await freePort()] as const
    const gateway = new Gateway(options, [...ports])
    await gateway.start()
    return gateway
  }

  get process(): OwnProcess {
    if (!this.#process) throw new Error('the gateway is not started')
    return this.#process
  }

  /** Settles when every door is open. */
  async start(): Promise<void> {
    const { name, folder, storeUrl, words } = this.#options
    const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a' })
    const started = new OwnProcess(
      process.execPath,
      [
        ...(this.#options.nodeWords ?? []),
        ...this.program,
        'serve',
        '--gearman-port',
        String(this.gearman),
        '--faktory-port',
        String(this.faktory),
        '--web-port',
        String(this.web),
        '--redis-url',
        storeUrl,
        '--log-format',
        'json',
        ...words,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] } },
    )
    this.#process = started
    started.child.stderr?.pipe(log, { end: false })
    const ready = started.said((line) => line.includes('"msg":"Ready."') || undefined)
    createInterface(started.child.stdout!).on('line', (line) => {
      log.write(`${line}\n`)
      if (line.includes('"msg":"Reload (')) this.#reloads += 1
    })
    await ready
  }

  /** The counters of the gateway that have a door, by `<name> <door>`. */
  async countersByDoor(): Promise<ReadonlyMap<string, number>> {
    const page = await fetch(`http://127.0.0.1:${this.web}/metrics`)
    const lines = (await page.text()).matchAll(
      /^(\w+_total)\{function="[^"]*",door="(\w+)"\} (\d+)$/gm,
    )
    const counters = new Map<string, number>()
    for (const [, name = '', door = '', value] of lines) {
      const key = `${name} ${door}`
      counters.set(key, (counters.get(key) ?? 0) + Number(value))
    }
    return counters
  }

  /** Makes it read its settings again. Settles when it has. */
  async reload(): Promise<void> {
    const reloads = this.#reloads + 1
    this.process.child.kill('SIGHUP')
    await waitFor(`${this.node} reads its settings`, () =>
      Promise.resolve(this.#reloads >= reloads),
    )
  }
}
