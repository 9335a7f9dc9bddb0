// `npm run simulate:planted [-- NAME ...]`: plants each fault, or the named ones, and runs up to 2,000 seeds until one fails.
// After each it writes its row in docs/reference/reliability.md; rows of faults that were not played stay as they are.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Players } from '../run/players.ts'
import { planOf } from '../world/plan.ts'
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

async function tryFault(fault: SimulatedFault): Promise<Found> {
  const times = readFileSync(join(checkout, fault.file), 'utf8').split(fault.from).length - 1
  if (times !== 1) throw new Error(`${fault.name}: its text stands ${times} times in ${fault.file}`)
  const startedMs = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-planted-'))
  const players = await Players.start(availableParallelism(), folder, fault)
  try {
    const first = await firstFailure(players)
    const seconds = (performance.now() - startedMs) / 1000
    return { fault, problem: 'no seed', ...first, seconds }
  } finally {
    await players.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The lowest seed from 1 on that fails. */
async function firstFailure(
  players: Players,
): Promise<Pick<Found, 'problem' | 'seed'> | undefined> {
  const failures: { readonly seed: number; readonly problem: string }[] = []
  let next = 1
  async function playOn(): Promise<void> {
    while (failures.length === 0 && next <= seeds) {
      const seed = next
      next += 1
      const { problems } = await players.run({ kind: 'play', plan: planOf(seed), tells: false })
      const [problem] = problems
      if (problem !== undefined) failures.push({ seed, problem })
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, playOn))
  return failures.toSorted((one, other) => one.seed - other.seed)[0]
}

/** The table in the docs, with a new row. */
function tableOf(former: string, found: Found): string {
  const rows = faults.flatMap((fault) => {
    if (fault !== found.fault)
      return former.split('\n').filter((row) => row.startsWith(`| ${fault.does} `))
    const at = found.seed === undefined ? `not in ${seeds}` : String(found.seed)
    return `| ${fault.does} | ${at} | ${found.seconds.toFixed(0)} |`
  })
  return ['| The changed code | First seed | Seconds |', '| --- | --- | --- |', ...rows].join('\n')
}

function writeRow(found: Found): void {
  const text = readFileSync(page, 'utf8')
  const [before = '', rest = ''] = text.split(marks[0])
  const [former = '', after = ''] = rest.split(marks[1])
  writeFileSync(page, `${before}${marks[0]}\n\n${tableOf(former, found)}\n\n${marks[1]}${after}`)
}

const names = process.argv.slice(2)
const unknown = names.find((name) => !faults.some((fault) => fault.name === name))
if (unknown !== undefined) {
  console.error(
    `No planted fault is named ${unknown}. There are: ${faults.map(({ name }) => name).join(', ')}.`,
  )
  process.exit(1)
}
const chosen = faults.filter(({ name }) => names.length === 0 || names.includes(name))
let missed = 0
for (const fault of chosen) {
  const found = await tryFault(fault)
  writeRow(found)
  if (found.seed === undefined) missed += 1
  console.log(
    `${fault.name.padEnd(30)} ${found.seed === undefined ? 'NOT FOUND' : `seed ${found.seed}`}  ${found.seconds.toFixed(0)} s  ${found.problem.split('\n')[0] ?? ''}`,
  )
}
console.log(`${chosen.length - missed} passed, ${missed} failed`)
process.exitCode = missed === 0 ? 0 : 1
