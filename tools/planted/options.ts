import { parseArgs } from 'node:util'
import type { PlantedFault } from './planted-fault.ts'

export const usage = `npm run planted -- [options]

Breaks one promise after another in a copy of this checkout, and runs the test that must notice it.

  --only <names>  only these faults, separated by commas
  --list          names the faults
  --help          this text

Exit code 1: a fault was not found, or a row of the table does not fit the sources any more.`

export interface Choice {
  readonly show: 'help' | 'list' | 'nothing'
  readonly chosen: readonly PlantedFault[]
}

/** Parses the command line; returns its fault if it has one. */
export function parseWords(
  words: readonly string[],
  faults: readonly PlantedFault[],
): Choice | { readonly problem: string } {
  let values
  try {
    values = parseArgs({
      args: [...words],
      options: {
        only: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n')
    return { problem: line }
  }
  const known = new Map(faults.map((fault) => [fault.name, fault]))
  const names = values.only?.split(',').map((name) => name.trim())
  const strange = names?.filter((name) => !known.has(name)) ?? []
  if (strange.length > 0) return { problem: `There is no planted fault "${strange.join('", "')}".` }
  return {
    show: values.help ? 'help' : values.list ? 'list' : 'nothing',
    chosen: faults.filter(({ name }) => names === undefined || names.includes(name)),
  }
}
