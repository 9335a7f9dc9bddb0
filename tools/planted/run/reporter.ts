import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import type { TestReport } from './report.ts'

/** Names the file for the report. */
export const reportVariable = 'PLANTED_REPORT'

/** Writes a {@link TestReport} when a run of Vitest ends: its own reports have no messages of time-outs. */
export default class PlantedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const [error] = modules.flatMap((one) => one.errors())
    const report: TestReport = {
      tests: modules
        .flatMap((one) => [...one.children.allTests()])
        .map((test) => {
          const { state, errors = [] } = test.result()
          const told = errors.map(({ name = '', message }) => ({ name, message }))
          return { fullName: test.fullName, state, errors: told }
        }),
      error: error?.message,
    }
    writeFileSync(process.env[reportVariable]!, JSON.stringify(report))
  }
}
