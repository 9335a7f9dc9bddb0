import { parseArgs } from 'node:util'

/** A kind of tests by what it needs. */
export type TestKind = 'quick' | 'system' | 'all'

/** Files of tests that need further programs, or several processes of ours. */
export const systemSuffix = '.system.test.ts'

/** Words of a run's command line. */
export interface RunChoice {
  readonly kind: TestKind
  /** Parts of the paths of the files to play; all files of the kind if there is none. */
  readonly files: readonly string[]
  /** Names of the projects to play; all if there is none. */
  readonly projects: readonly string[]
  /** Pattern of the names of the tests to play. */
  readonly named: string | undefined
  /** How many of the slowest tests are listed at the end. */
  readonly slowest: number
  /** Page whose list of the slowest tests is written anew. */
  readonly into: string | undefined
  /** Folder with projects, or itself one, in place of the repository. */
  readonly root: string | undefined
}

export function parseRunWords(words: readonly string[]): RunChoice {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      project: { type: 'string', multiple: true },
      testNamePattern: { type: 'string', short: 't' },
      slowest: { type: 'string' },
      into: { type: 'string' },
      root: { type: 'string' },
    },
  })
  const [kind, ...files] = positionals
  if (kind !== 'quick' && kind !== 'system' && kind !== 'all')
    throw new Error('The first word is quick, system or all.')
  return {
    kind,
    files,
    projects: values.project ?? [],
    named: values.testNamePattern,
    slowest: Number(values.slowest ?? 0),
    into: values.into,
    root: values.root,
  }
}

/** True if the run has the file, given by its path from the top of the repository. */
export function isPlayed(
  { kind, files }: Pick<RunChoice, 'kind' | 'files'>,
  file: string,
): boolean {
  const isOfKind = kind === 'all' || (kind === 'system') === file.endsWith(systemSuffix)
  return isOfKind && (files.length === 0 || files.some((part) => file.includes(part)))
}
