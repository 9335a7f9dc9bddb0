import type { Logger } from '../config/log/logger.ts'
import { oneLine } from '../errors.ts'
import type { RunningGateway } from './shutdown.ts'

const signal = 'SIGTTIN'
const bytesPerMb = 1024 * 1024

/**
 * SIGTTIN prints the state into the log, as at the Faktory server, and the gateway goes on. Without a handler it
 * would suspend a gateway that was started from a shell.
 */
export class StateSignal {
  readonly #log: Logger
  readonly #version: string
  #gateway: RunningGateway | undefined

  constructor(log: Logger, version: string) {
    // The state was asked for: the level of the log does not hide it.
    this.#log = log.child({}, { level: 'info' })
    this.#version = version
    process.on(signal, this.#onSignal)
  }

  /** The start is complete. */
  started(gateway: RunningGateway): void {
    this.#gateway = gateway
  }

  stop(): void {
    process.off(signal, this.#onSignal)
  }

  readonly #onSignal = (): void => void this.#print()

  async #print(): Promise<void> {
    const gateway = this.#gateway
    for (const line of [...processLines(this.#version), ...doorLines(gateway)]) this.#say(line)
    // The store may take its time.
    const lines = await gateway?.state().catch((error: unknown) => [`${oneLine(error)}.`])
    for (const line of lines ?? ['the start is not complete.']) this.#say(line)
  }

  #say(line: string): void {
    this.#log.info(`State (${signal}): ${line}`)
  }
}

function processLines(version: string): readonly string[] {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const megabytes = (bytes: number): string => `${Math.round(bytes / bytesPerMb)} MB`
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const resources = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
  return [
    `Crossgear ${version}, process ${process.pid}, up ${Math.floor(process.uptime())} s, ${megabytes(rss)} of memory (heap ${megabytes(heapUsed)}), ${((user + system) / 1e6).toFixed(1)} s of processor time.`,
    `open in Node: ${resources || 'nothing'}.`,
  ]
}

function doorLines(gateway: RunningGateway | undefined): readonly string[] {
  return (gateway?.doors ?? []).map(({ name, host, port }) => `${name} listens on ${host}:${port}.`)
}
