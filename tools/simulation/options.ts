import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { closest } from '@crossgear/gateway/src/config/unknown-variables.ts'
import { faultKinds, type FaultKind } from './world/plan.ts'

export const usage = `npm run simulate -- [options]

Plays worlds of gateways, clients, workers and faults in one process, without real time. The seed of a
world decides all that happens in it, so a failing seed fails again.

  --seeds <n>      so many seeds (1000)
  --from <s>       the first of them (1)
  --seed <s>       one seed, with its story
  --plan <file>    the world of a saved plan, with its story
  --story          tells the story of each world
  --processes <n>  worlds played at once (one a core)
  --no-shrink      failing worlds are not made smaller
  --exhaustive     walks every order of events in a tiny world, with one fault
  --fault <name>   its fault (crash): ${faultKinds.join(', ')}
  --minutes <n>    time for it (1)
  --help           this text

A failing seed is told with the command that plays it again. The first ten are also made smaller: the
smaller plan is saved, and its story is told.

Exit code 1: a world broke a promise, or the command is wrong. 130: stopped by ^C.`

export type Work =
  | { readonly kind: 'seeds'; readonly from: number; readonly count: number }
  | { readonly kind: 'plan'; readonly file: string }
  | { readonly kind: 'orders'; readonly fault: FaultKind; readonly minutes: number }

export interface Choice {
  readonly show: 'help' | 'nothing'
  readonly work: Work
  readonly processes: number
  readonly tells: boolean
  readonly shrinks: boolean
}

type Fault = { readonly problem: string }

const options = {
  seeds: { type: 'string' },
  from: { type: 'string' },
  seed: { type: 'string' },
  plan: { type: 'string' },
  story: { type: 'boolean', default: false },
  processes: { type: 'string' },
  shrink: { type: 'boolean', default: true },
  'no-shrink': { type: 'boolean', default: false },
  exhaustive: { type: 'boolean', default: false },
  fault: { type: 'string' },
  minutes: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

/** Seeds are 32 bits. */
const seedBound = 2 ** 32
const maxProcesses = 256
const maxMinutes = 24 * 60

class BadOption extends Error {}

/** Parses the command line; returns its fault if it has one. */
export function parseWords(words: readonly string[]): Choice | Fault {
  const stranger = strangerIn(words)
  if (stranger !== undefined) return { problem: stranger }
  try {
    return choiceOf(parseArgs({ args: [...words], options }).values)
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n')
    return { problem: line }
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']

function choiceOf(values: Values): Choice {
  const { seed, plan } = values
  const tells = values.story || seed !== undefined || plan !== undefined
  const processes = whole('processes', values.processes, 1, maxProcesses) ?? availableParallelism()
  return {
    processes,
    tells,
    show: values.help ? 'help' : 'nothing',
    work: workOf(values),
    shrinks: values.shrink && !values['no-shrink'],
  }
}

/** Options that say which worlds are played: one way at a time. */
const ways = [['seeds', 'from'], ['seed'], ['plan'], ['exhaustive', 'fault', 'minutes']] as const

function workOf(values: Values): Work {
  const chosen = ways
    .map((names) => names.find((name) => values[name]))
    .filter((name) => name !== undefined)
  if (chosen.length > 1)
    throw new BadOption(`--${chosen[0]} and --${chosen[1]} do not go together.`)
  if (values.plan !== undefined) return { kind: 'plan', file: values.plan }
  if (values.exhaustive) {
    const { fault = 'crash' } = values
    if (!isFaultKind(fault)) throw new BadOption(unknown('fault', fault, faultKinds))
    return { kind: 'orders', fault, minutes: whole('minutes', values.minutes, 1, maxMinutes) ?? 1 }
  }
  if (chosen[0] === 'fault' || chosen[0] === 'minutes')
    throw new BadOption(`--${chosen[0]} needs --exhaustive.`)
  const seed = whole('seed', values.seed, 0, seedBound - 1)
  if (seed !== undefined) return { kind: 'seeds', from: seed, count: 1 }
  const from = whole('from', values.from, 0, seedBound - 1) ?? 1
  const count = whole('seeds', values.seeds, 1, seedBound) ?? 1_000
  if (from + count > seedBound) throw new BadOption(`Seeds end at ${seedBound - 1}.`)
  return { kind: 'seeds', from, count }
}

const isFaultKind = (name: string): name is FaultKind =>
  (faultKinds as readonly string[]).includes(name)

function whole(
  name: keyof Values,
  text: string | undefined,
  min: number,
  max: number,
): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d+$/.test(text) ? Number(text) : NaN
  if (value >= min && value <= max) return value
  throw new BadOption(`--${name} is a whole number from ${min} to ${max}, not "${text}".`)
}

function unknown(what: string, name: string, known: readonly string[]): string {
  const near = closest(name, known)
  return `There is no ${what} "${name}": ${near === undefined ? `known are ${known.join(', ')}` : `did you mean ${near}?`}`
}

/** The first word that is no option, nor the value of one. */
function strangerIn(words: readonly string[]): string | undefined {
  const { tokens } = parseArgs({
    args: [...words],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind === 'positional') return `"${token.value}" is not an option: see --help.`
    if (token.kind !== 'option' || Object.hasOwn(options, token.name)) continue
    const near = closest(token.name, Object.keys(options))
    return `There is no option ${token.rawName}: ${near === undefined ? 'see --help.' : `did you mean --${near}?`}`
  }
  return undefined
}
