import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node'

/** In the folder of the project. Nx brings it back with the output of tests that it need not run again. */
export const resultFile = 'test-results.json'

/** Result of the tests of one project. */
export interface ProjectResult {
  /** Folder of the project, from the top of the repository. */
  readonly project: string
  /** False if the run was stopped. */
  readonly hasEnded: boolean
  readonly passed: number
  /** Tests, and files and suites that could not begin. */
  readonly failed: number
  readonly skipped: number
  /** Skipped tests by what they lack; `''`: for another reason. */
  readonly lacking: Readonly<Record<string, number>>
  readonly ms: number
}

declare module 'vitest' {
  interface TaskMeta {
    /** The program that a skipped test lacks. */
    lacks?: string
  }
}

const top = fileURLToPath(new URL('../../..', import.meta.url))

/** Writes a project's result as JSON, for the table of all. */
export default class ResultFile implements Reporter {
  #root = ''
  #startedMs = 0

  onInit({ config }: Vitest): void {
    this.#root = config.root
    this.#startedMs = performance.now()
    this.#write({ passed: 0, failed: 0, skipped: 0 }, {}, false)
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 }
    const lacking: Record<string, number> = {}
    for (const module of modules) {
      const suites = [module, ...module.children.allSuites()]
      for (const suite of suites) counts.failed += suite.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed' || state === 'failed') {
          counts[state] += 1
          continue
        }
        counts.skipped += 1
        const { lacks = '' } = test.meta()
        lacking[lacks] = (lacking[lacks] ?? 0) + 1
      }
    }
    this.#write(counts, lacking, true)
  }

  #write(
    counts: Pick<ProjectResult, 'passed' | 'failed' | 'skipped'>,
    lacking: Readonly<Record<string, number>>,
    hasEnded: boolean,
  ): void {
    const ms = Math.round(performance.now() - this.#startedMs)
    const project = relative(top, this.#root)
    const result: ProjectResult = { project, hasEnded, ...counts, lacking, ms }
    writeFileSync(join(this.#root, resultFile), JSON.stringify(result))
  }
}
