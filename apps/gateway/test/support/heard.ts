import type { MigrateSurroundings } from '../../src/commands/migrate/run-migrate.ts'

export interface Said {
  stdout: string
  stderr: string
}

type Signal = MigrateSurroundings['signal']

/** Surroundings of a command that runs in this process, and what it says in them. */
export function listening(
  signal: Signal = new AbortController().signal,
  env: MigrateSurroundings['env'] = {},
): {
  readonly said: Said
  readonly surroundings: MigrateSurroundings
} {
  const said = { stdout: '', stderr: '' }
  const write = (stream: keyof Said) => ({ write: (text: string) => (said[stream] += text) })
  const [stdout, stderr] = [write('stdout'), write('stderr')]
  return { said, surroundings: { env, signal, stdout, stderr } }
}

/** Runs a command in this process; its exit code and what it has said. */
export async function heard(
  run: (words: readonly string[], surroundings: MigrateSurroundings) => Promise<number>,
  words: readonly string[],
  signal?: Signal,
  env?: MigrateSurroundings['env'],
): Promise<Said & { readonly code: number }> {
  const { said, surroundings } = listening(signal, env)
  return { code: await run(words, surroundings), ...said }
}
