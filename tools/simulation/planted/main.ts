// `npm run simulate:planted [-- NAME ...]`: plants each fault, or the named ones, and runs up to 2,000 seeds until one fails.
// It writes the table in docs/reference/reliability.md; rows of faults that were not named stay as they are.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CheckoutCopy } from '@crossgear/tools/checkout-copy'
import { faults, type SimulatedFault } from './faults.ts'

const checkout = fileURLToPath(new URL('../../../', import.meta.url))
const page = join(checkout, 'docs/reference/reliability.md')
const seeds = 2_000
const marks = ['<!-- planted faults: begin -->', '<!-- planted faults: end -->'] as const

interface Found {
  readonly fault: SimulatedFault
  /** The first seed that noticed it; absent: none did. */
  readonly seed?: number
  readonly problem: string
  readonly seconds: number
}

function tryFault(copy: CheckoutCopy, fault: SimulatedFault): Found {
  const path = join(copy.root, fault.file)
  const times = readFileSync(path, 'utf8').split(fault.from).length - 1
  if (times !== 1) throw new Error(`${fault.name}: its text stands ${times} times in ${fault.file}`)
  const startedMs = performance.now()
  const takeBack = copy.plant(fault)
  const words = ['--conditions=@crossgear/source', '--import', 'tsx']
  const run = spawnSync(
    process.execPath,
    [...words, 'tools/simulation/planted/first-failure.ts', String(seeds), copy.temporaryFolder],
    { cwd: copy.root, encoding: 'utf8' },
  )
  takeBack()
  const seconds = (performance.now() - startedMs) / 1000
  if (run.status !== 0) throw new Error(`${fault.name} does not run: ${run.stderr}`)
  const last = run.stdout.trim().split('\n').at(-1) ?? ''
  const { seed, problem = 'no seed' } = JSON.parse(last) as { seed?: number; problem?: string }
  return { fault, ...(seed !== undefined && { seed }), problem, seconds }
}

/** The table in the docs, with new rows for these. */
function tableOf(former: string, all: readonly Found[]): string {
  const rows = faults.flatMap((fault) => {
    const found = all.find((one) => one.fault === fault)
    if (!found) return former.split('\n').filter((row) => row.startsWith(`| ${fault.does} `))
    const at = found.seed === undefined ? `not in ${seeds}` : String(found.seed)
    return `| ${fault.does} | ${at} | ${found.seconds.toFixed(0)} |`
  })
  return ['| The changed code | First seed | Seconds |', '| --- | --- | --- |', ...rows].join('\n')
}

const names = process.argv.slice(2)
const unknown = names.find((name) => !faults.some((fault) => fault.name === name))
if (unknown !== undefined) {
  console.error(
    `No planted fault is named ${unknown}. There are: ${faults.map(({ name }) => name).join(', ')}.`,
  )
  process.exit(2)
}
const chosen = faults.filter(({ name }) => names.length === 0 || names.includes(name))
const copy = new CheckoutCopy(checkout)
const all: Found[] = []
try {
  for (const fault of chosen) {
    const found = tryFault(copy, fault)
    all.push(found)
    console.log(
      `${fault.name.padEnd(30)} ${found.seed === undefined ? 'NOT FOUND' : `seed ${found.seed}`}  ${found.seconds.toFixed(0)} s  ${found.problem.split('\n')[0] ?? ''}`,
    )
  }
} finally {
  copy.remove()
}
const missed = all.filter(({ seed }) => seed === undefined).length
const text = readFileSync(page, 'utf8')
const [before = '', rest = ''] = text.split(marks[0])
const [former = '', after = ''] = rest.split(marks[1])
writeFileSync(page, `${before}${marks[0]}\n\n${tableOf(former, all)}\n\n${marks[1]}${after}`)
console.log(`${all.length - missed} passed, ${missed} failed`)
process.exitCode = missed === 0 ? 0 : 1
