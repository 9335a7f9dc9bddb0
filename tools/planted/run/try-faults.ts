import type { PlantedFault } from '../planted-fault.ts'
import { misfitOf } from '../table.ts'
import type { CheckoutCopy } from './checkout-copy.ts'
import { compileError } from './compile.ts'
import { missed, unfitness, verdictOf, type TestReport, type Verdict } from './report.ts'
import { runTest } from './test-run.ts'

export interface Tried {
  readonly fault: PlantedFault
  readonly verdict: Verdict
  readonly seconds: number
}

/** Plants the faults one by one. Their tests first run without them, once per file. */
export async function* tryFaults(
  copy: CheckoutCopy,
  faults: readonly PlantedFault[],
  stop: AbortSignal,
): AsyncGenerator<Tried> {
  const unfit = new Map<PlantedFault, string>()
  const fitting = faults.filter((fault) => misfitOf(fault, copy.root) === undefined)
  for (const test of new Set(fitting.map((fault) => fault.test))) {
    const rows = fitting.filter((fault) => fault.test === test)
    const names = rows.map(({ testName }) => testName)
    const report = await runTest(copy, { test, names }, stop)
    for (const fault of rows) {
      const reason = 'failure' in report ? report.failure : unfitness(report, fault)
      if (reason !== undefined) unfit.set(fault, reason)
    }
  }
  for (const fault of faults) {
    const startedMs = performance.now()
    const reason = misfitOf(fault, copy.root) ?? unfit.get(fault)
    const verdict = reason === undefined ? await tryFault(copy, fault, stop) : missed(reason)
    yield { fault, verdict, seconds: (performance.now() - startedMs) / 1000 }
  }
}

async function tryFault(
  copy: CheckoutCopy,
  fault: PlantedFault,
  stop: AbortSignal,
): Promise<Verdict> {
  const takeBack = copy.plant(fault)
  try {
    const error = await compileError(copy, fault.file, stop)
    if (error !== undefined) return missed(`it does not compile: ${error}`)
    const run = { test: fault.test, names: [fault.testName] }
    const report: TestReport | { failure: string } = await runTest(copy, run, stop)
    return 'failure' in report ? missed(report.failure) : verdictOf(report, fault)
  } finally {
    takeBack()
  }
}
