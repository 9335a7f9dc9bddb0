import type { SerializedError, UserConsoleLog } from 'vitest'
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node'
import { type FileResult, fileResultOf, fromTop } from './file-result.ts'
import { resultTable, slowestTests } from './result-table.ts'

/** Characters that a clock of the line of a file has. */
const clockWidth = 5

/** A line for each file as it ends, with how far the run is; at the end the table, however the run came to it. */
export class RunReporter implements Reporter {
  readonly #write: (text: string) => void
  readonly #ended: FileResult[] = []
  readonly #filesOf = new Map<string, number>()
  #vitest: Vitest | undefined
  #total = 0
  #startedMs = performance.now()

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#startedMs = performance.now()
    this.#total = specifications.length
    for (const { project } of specifications) {
      const place = fromTop(project.config.root)
      this.#filesOf.set(place, (this.#filesOf.get(place) ?? 0) + 1)
    }
  }

  onTestModuleEnd(module: TestModule): void {
    const result = fileResultOf(module)
    this.#ended.push(result)
    const at = String(this.#ended.length).padStart(String(this.#total).length)
    const [passed, failed] = [result.passed.length, result.failed.length]
    const counts = [
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(result.skipped > 0 ? [`${result.skipped} skipped`] : []),
    ].join(', ')
    const mark = failed > 0 ? '✗' : '✓'
    const time = `${(result.ms / 1000).toFixed(1)} s`
    this.#write(
      `${mark} ${at} of ${this.#total} ${this.#clock()} ${result.file} (${counts}, ${time})\n`,
    )
    this.#printErrors(module)
  }

  onUserConsoleLog({ content }: UserConsoleLog): void {
    this.#write(content)
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    for (const error of errors) this.#vitest?.logger.printError(error, { type: 'Unhandled error' })
  }

  get hasFailed(): boolean {
    return this.#ended.some(({ failed }) => failed.length > 0)
  }

  /** The table of what has ended. */
  close(): void {
    const planned = Array.from(this.#filesOf, ([project, files]) => ({ project, files }))
    const total = this.#total
    const stopped = this.#ended.length < total ? `, ${this.#ended.length} of ${total} files` : ''
    const table = resultTable({ planned, ended: this.#ended })
    this.#write(`\n${table}${stopped} in ${this.#clock().trim()}\n`)
  }

  slowest(count: number): readonly string[] {
    return slowestTests(this.#ended, count)
  }

  #clock(): string {
    const seconds = Math.round((performance.now() - this.#startedMs) / 1000)
    const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60]
    return `${minutes}:${String(rest).padStart(2, '0')}`.padStart(clockWidth)
  }

  #printErrors(module: TestModule): void {
    const { project } = module
    const print = (name: string, errors: readonly SerializedError[] = []): void => {
      for (const error of errors) {
        this.#write(`\nfailed: ${name}\n`)
        this.#vitest?.logger.printError(error, { project })
      }
    }
    for (const suite of [module, ...module.children.allSuites()]) {
      print(suite.type === 'module' ? fromTop(suite.moduleId) : suite.fullName, suite.errors())
    }
    for (const test of module.children.allTests('failed')) {
      print(test.fullName, test.result().errors)
    }
  }
}
