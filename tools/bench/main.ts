// `npm run bench`: see command-line.ts for its options.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { helpText, parseCommandLine, UsageError, type Request } from './command-line.ts'
import { judge, type Judged } from './report/figures.ts'
import { LoadGenerator } from './load-generator.ts'
import { describeMachine, formatMachine } from './machine.ts'
import { rowGroups } from './rows/index.ts'
import { readPage, replaceResults } from './report/page.ts'
import { formatTable } from './report/table.ts'

const programs = { gearmand: '--version', 'redis-server': '--version', cc: '--version' }

/** Programs that the benchmark needs and the machine lacks. */
function absentPrograms(): readonly string[] {
  return Object.entries(programs)
    .filter(([program, word]) => spawnSync(program, [word]).error !== undefined)
    .map(([program]) => program)
}

async function measure(request: Request): Promise<void> {
  const { rows, scale, page } = request
  // Checked before minutes of work.
  const pageText = page === undefined ? '' : readPage(page)
  const machine = describeMachine()
  const head = `${formatMachine(machine)}\n- Rounds: ${scale.rounds}${request.quick ? ', quick' : ''}`
  process.stdout.write(`${head}\n\n`)
  const bench = { generator: LoadGenerator.compile(), scale }
  const figures: Judged[] = []
  /** Of groups without a table of their own. */
  const common: Judged[] = []
  const ownTables: string[] = []
  const tables = (): string =>
    [...(common.length > 0 ? [formatTable(common)] : []), ...ownTables].join('\n\n')
  for (const { name, measure, table } of rowGroups.filter((group) => rows.includes(group.name))) {
    process.stderr.write(`${name}...\n`)
    const measured = (await measure(bench)).map(judge)
    figures.push(...measured)
    if (table) ownTables.push(table(measured))
    else common.push(...measured)
    // After each group, so that an aborted run leaves its results.
    if (page !== undefined) {
      writeFileSync(page, replaceResults(pageText, `${head}\n\n${tables()}`))
    }
    if (request.json !== undefined) {
      writeFileSync(request.json, `${JSON.stringify({ machine, scale, figures }, null, 2)}\n`)
    }
  }
  process.stdout.write(`${tables()}\n`)
}

async function main(): Promise<number> {
  const known = rowGroups.map(({ name }) => name)
  const request = parseCommandLine(process.argv.slice(2), known)
  if (request.help) {
    process.stdout.write(helpText(known))
    return 0
  }
  const absent = absentPrograms()
  if (absent.length > 0) {
    process.stderr.write(`Skipped: this machine lacks ${absent.join(', ')}.\n`)
    return 0
  }
  await measure(request)
  return 0
}

// Ends all programs: see the exit handlers in processes.ts and servers.ts.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  // At once: load generators of the failed row may still run.
  process.exit(error instanceof UsageError ? 2 : 1)
}
