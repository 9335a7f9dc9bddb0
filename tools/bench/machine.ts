import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'

const gib = 1024 ** 3

/** The machine and time of figures: without them figures cannot be compared. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGib: number
  /** ISO 8601, UTC. */
  readonly date: string
  /** Over the last minute, before the first row. Above 0.5 others used the machine. */
  readonly loadAverage: number
  readonly versions: Readonly<Record<string, string>>
}

function versionIn(program: string, ...words: readonly string[]): string {
  return (
    /\d+\.\d+(\.\d+)?/.exec(execFileSync(program, words, { encoding: 'utf8' }))?.[0] ?? 'unknown'
  )
}

function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' })
  return `${version} (${commit.trim()})`
}

export function describeMachine(): Machine {
  const processors = cpus()
  return {
    processor: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryGib: Math.round(totalmem() / gib),
    date: new Date().toISOString(),
    loadAverage: loadavg()[0] ?? 0,
    versions: {
      crossgear: ownVersion(),
      node: process.versions.node,
      redis: versionIn('redis-server', '--version'),
      gearmand: versionIn('gearmand', '--version'),
    },
  }
}

/** The machine in lines of Markdown. */
export function formatMachine(machine: Machine): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`)
  return [
    `- Machine: ${machine.processor}, ${machine.cores} cores, ${machine.memoryGib} GiB`,
    `- Versions: ${versions.join(', ')}`,
    `- Date: ${machine.date}`,
    `- Load average before: ${machine.loadAverage.toFixed(2)}`,
  ].join('\n')
}
