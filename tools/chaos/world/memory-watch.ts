import { nowMs } from '../log/clock.ts'
import type { Gateway } from './gateway.ts'

const lookEveryMs = 2_000
/** A process is measured once it is warm, and old enough for a leak to show, milliseconds. */
const warmAfterMs = 60_000
const minLifeMs = 180_000
/** Allowed growth of a warm process: garbage that was not collected yet. */
const growthFactor = 1.5
const growthBytes = 64 * 1024 * 1024

interface Sample {
  readonly atMs: number
  readonly bytes: number
}

/** Memory of processes over time. */
export class MemoryWatch {
  readonly #gateways: readonly Gateway[]
  readonly #lives = new Map<string, Sample[]>()
  readonly #timer: NodeJS.Timeout

  constructor(gateways: readonly Gateway[]) {
    this.#gateways = gateways
    this.#timer = setInterval(() => this.#look(), lookEveryMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Memory of each process over time, one line each. */
  get report(): string[] {
    return [...this.#lives].map(([name, samples]) => {
      const bytes = samples.map((sample) => sample.bytes)
      const [first, last] = [bytes[0]!, bytes.at(-1)!]
      const seconds = Math.round((samples.at(-1)!.atMs - samples[0]!.atMs) / 1000)
      const course = [first, Math.max(...bytes), last].map(mib).join(' / ')
      return `${name}: ${course} MiB at first / most / last, in ${seconds} s`
    })
  }

  /** Processes that keep growing. */
  get leaks(): string[] {
    return [...this.#lives].flatMap(([name, samples]) =>
      isLeaking(samples) ? [`${name} may leak memory`] : [],
    )
  }

  #look(): void {
    for (const { node, process } of this.#gateways) {
      const bytes = process.residentBytes()
      if (bytes === 0) continue
      const name = `${node} (${process.child.pid})`
      const samples = this.#lives.get(name) ?? []
      samples.push({ atMs: nowMs(), bytes })
      this.#lives.set(name, samples)
    }
  }
}

/** Compares a process's recent minimum with its maximum when it was warm. */
export function isLeaking(samples: readonly Sample[]): boolean {
  const startMs = samples[0]?.atMs ?? 0
  const endMs = samples.at(-1)?.atMs ?? 0
  if (endMs - startMs < minLifeMs) return false
  const within = (fromMs: number, toMs: number): number[] =>
    samples.flatMap(({ atMs, bytes }) => (atMs >= fromMs && atMs <= toMs ? [bytes] : []))
  const warm = Math.max(...within(startMs + warmAfterMs / 2, startMs + warmAfterMs))
  const late = Math.min(...within(endMs - warmAfterMs / 2, endMs))
  return late > warm * growthFactor && late - warm > growthBytes
}

function mib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0)
}
