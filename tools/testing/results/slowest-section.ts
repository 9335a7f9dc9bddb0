import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'

/** The part of a page between two comments. */
const section = /(?<=<!-- slowest -->\n)[^]*(?=<!-- \/slowest -->)/

/** A run, and its machine at the beginning. */
export interface MachineOfRun {
  /** Day of the run, as 2026-01-31. */
  readonly day: string
  /** Files that were played: parts of paths leave others out. */
  readonly files: number
  readonly processor: string
  readonly cores: number
  /** Version of Node. */
  readonly node: string
  /** Processes that wanted a core in the minute before. */
  readonly load: number
}

export function machineOfRun({ files, load }: Pick<MachineOfRun, 'files' | 'load'>): MachineOfRun {
  return {
    files,
    day: new Date().toISOString().slice(0, '2026-01-31'.length),
    processor: cpus()[0]?.model ?? 'an unknown processor',
    cores: availableParallelism(),
    node: process.versions.node,
    load,
  }
}

/** The page with the list of the slowest tests in place of the former one. */
export function withSlowest(page: string, lines: readonly string[], machine: MachineOfRun): string {
  if (!section.test(page)) throw new Error('the page has no <!-- slowest --> and <!-- /slowest -->')
  const { day, files, processor, cores, node, load } = machine
  const on = `${day}, ${files} files, ${processor}, ${cores} cores, Node ${node}, load ${load.toFixed(1)} at the start:`
  return page.replace(section, () => ['', on, '', '```', ...lines, '```', '', ''].join('\n'))
}

export function writeSlowest(file: string, lines: readonly string[], machine: MachineOfRun): void {
  writeFileSync(file, withSlowest(readFileSync(file, 'utf8'), lines, machine))
}
