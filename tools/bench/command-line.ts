import { parseArgs } from 'node:util'
import { fullScale, quickScale, type Scale } from './bench.ts'

const maxRounds = 1000

/** The options of `npm run bench -- ...`. */
export interface Request {
  readonly help: boolean
  readonly scale: Scale
  readonly quick: boolean
  /** Names of row groups, in the order of the table. */
  readonly rows: readonly string[]
  /** File for the figures as JSON. */
  readonly json: string | undefined
  /** Page whose results section is rewritten. */
  readonly page: string | undefined
}

/** An invalid command line. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseCommandLine(words: readonly string[], known: readonly string[]): Request {
  const { values } = parse(words)
  const quick = values.quick === true
  const scale = quick ? quickScale : fullScale
  const wanted = values.rows?.split(',') ?? known
  const unknown = wanted.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new UsageError(`--rows knows ${known.join(', ')}; not ${unknown.join(', ')}`)
  }
  return {
    help: values.help === true,
    quick,
    scale: { ...scale, rounds: wholeOf('rounds', values.rounds, maxRounds) ?? scale.rounds },
    rows: known.filter((name) => wanted.includes(name)),
    json: values.json,
    page: values.page,
  }
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        help: { type: 'boolean', short: 'h' },
        quick: { type: 'boolean' },
        rows: { type: 'string' },
        rounds: { type: 'string' },
        json: { type: 'string' },
        page: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function wholeOf(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= max) return number
  throw new UsageError(`--${name} takes a whole number from 1 to ${max}; not ${text}`)
}

export function helpText(known: readonly string[]): string {
  return `npm run bench -- [options]

Drives gearmand and the built gateway with the same load in turn, and prints medians and ratios.

  --quick        fewer rounds and jobs, for a look between two changes
  --rows LIST    only these, with commas between them: ${known.join(', ')}
  --rounds N     turns that count at each server (default: ${fullScale.rounds}, --quick: ${quickScale.rounds})
  --json FILE    also writes every sample as JSON
  --page FILE    also writes the results into a page, between its two result marks
  --help         this text

Needs gearmand, redis-server and cc. Exit code 1: a job was lost, done twice or changed.
`
}
