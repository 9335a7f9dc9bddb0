import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestError } from 'vitest'
import type { TestCase, TestModule, TestSuite } from 'vitest/node'

declare module 'vitest' {
  interface TaskMeta {
    /** The program that a skipped test lacks. */
    lacks?: string
  }
}

/** One test, or a suite or file that could not run. */
export interface PlayedTest {
  /** Path from the top of the repository and line, as editors open it. */
  readonly place: string
  readonly name: string
  readonly ms: number
  /** Errors, and the line of the tests where the first of them came up; `''` where the test passed. */
  readonly fault: string
}

/** Result of one file. */
export interface FileResult {
  /** Folder of its project, from the top of the repository. */
  readonly project: string
  /** Path from the top of the repository. */
  readonly file: string
  readonly passed: readonly PlayedTest[]
  readonly failed: readonly PlayedTest[]
  readonly skipped: number
  /** Skipped tests by what they lack; `''`: for another reason. */
  readonly lacking: Readonly<Record<string, number>>
  readonly ms: number
}

const top = fileURLToPath(new URL('../../..', import.meta.url))

/** Path from the top of the repository. */
export function fromTop(path: string): string {
  return relative(top, path) || '.'
}

type Task = TestCase | TestSuite | TestModule

const errorsOf = (task: Task): readonly TestError[] =>
  (task.type === 'test' ? task.result().errors : task.errors()) ?? []

/** Path and line of the tests where something failed. */
function failedAt(errors: readonly TestError[]): string | undefined {
  const inTests = /(?:^|\/)test\//
  const frame = errors.flatMap(({ stacks = [] }) => stacks).find((one) => inTests.test(one.file))
  return frame && `${fromTop(frame.file)}:${frame.line}`
}

/** Path and line of a test. One that helpers declare has those of its failure. */
function placeOf(task: Task, file: string): string {
  const line = task.type === 'module' ? undefined : task.location?.line
  return line === undefined ? (failedAt(errorsOf(task)) ?? file) : `${file}:${line}`
}

/** The first lines of the errors, and where the first of them came from. */
function faultOf(task: Task): string {
  const errors = errorsOf(task)
  const place = failedAt(errors)
  const said = errors.map(({ message }) => message.split('\n', 1)[0]).join('; ')
  return place === undefined ? said : `${said} (${place})`
}

export function fileResultOf(module: TestModule): FileResult {
  const file = fromTop(module.moduleId)
  const played = (task: Task, ms: number): PlayedTest => {
    const name = task.type === 'module' ? 'the file' : task.fullName
    return { place: placeOf(task, file), name, ms, fault: faultOf(task) }
  }
  const passed: PlayedTest[] = []
  const failed = [module, ...module.children.allSuites()]
    .filter((suite) => suite.errors().length > 0)
    .map((suite) => played(suite, 0))
  const lacking: Record<string, number> = {}
  let skipped = 0
  for (const test of module.children.allTests()) {
    const { state } = test.result()
    const ms = test.diagnostic()?.duration ?? 0
    if (state === 'passed') passed.push(played(test, ms))
    else if (state === 'failed') failed.push(played(test, ms))
    else {
      const { lacks = '' } = test.meta()
      lacking[lacks] = (lacking[lacks] ?? 0) + 1
      skipped += 1
    }
  }
  const { collectDuration, setupDuration, duration } = module.diagnostic()
  const ms = collectDuration + setupDuration + duration
  return {
    project: fromTop(module.project.config.root),
    file,
    passed,
    failed,
    skipped,
    lacking,
    ms,
  }
}
