import type { PlantedFault } from '../planted-fault.ts'

/** The tests of a run; `error`: why it collected fewer than there are. */
export interface TestReport {
  readonly tests: readonly TestResult[]
  readonly error: string | undefined
}

export interface TestResult {
  readonly fullName: string
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
  readonly errors: readonly { readonly name: string; readonly message: string }[]
}

/** `reason`: why the fault counts as not found. */
export type Verdict =
  | { readonly isFound: true }
  | { readonly isFound: false; readonly reason: string }

/** How messages begin that tell of an event that did not come, or of a property that does not hold. */
const brokenPromise = /^(?:Test timed out|Timed out in wait|it does not come about|Property failed)/

export const missed = (reason: string): Verdict => ({ isFound: false, reason })

/** Tells why tests of a row cannot be its witnesses, from a run without the fault. */
export function unfitness(report: TestReport, fault: PlantedFault): string | undefined {
  const tests = testsOf(report, fault)
  const failed = tests.find(({ state }) => state === 'failed')
  if (failed) return `without the fault "${failed.fullName}" fails: ${errorOf(failed)}`
  return tests.length === 0 ? `no test ran without the fault${causeOf(report)}` : undefined
}

/** The verdict of a run with the fault. */
export function verdictOf(report: TestReport, fault: PlantedFault): Verdict {
  const tests = testsOf(report, fault)
  if (tests.length === 0) return missed(`no test ran${causeOf(report)}`)
  const failed = tests.filter(({ state }) => state === 'failed')
  const isTold = failed.some(({ errors }) =>
    errors.some(({ name, message }) => name === 'AssertionError' || brokenPromise.test(message)),
  )
  if (isTold) return { isFound: true }
  const [first] = failed
  return missed(
    first
      ? `"${first.fullName}" fails by no assertion: ${errorOf(first)}`
      : `no test of ${tests.length} fails`,
  )
}

/** Tests of a row that ran. */
function testsOf({ tests }: TestReport, { testName }: PlantedFault): readonly TestResult[] {
  return tests
    .filter(({ state }) => state === 'passed' || state === 'failed')
    .filter(({ fullName }) => testName === undefined || fullName.includes(testName))
}

function errorOf({ errors: [error] }: TestResult): string {
  return error ? `${error.name}: ${error.message.split('\n', 1)[0]}` : 'without an error'
}

function causeOf({ error }: TestReport): string {
  return error === undefined ? '' : `: ${error.split('\n', 1)[0]}`
}
