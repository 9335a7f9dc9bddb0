/** Surroundings of a command that runs in this process, and what it says in them. */
export function listening(signal = new AbortController().signal) {
  const said = { stdout: '', stderr: '' }
  const surroundings = {
    ...{ env: {}, signal },
    stdout: { write: (text: string) => (said.stdout += text) },
    stderr: { write: (text: string) => (said.stderr += text) },
  }
  return { said, surroundings }
}

/** Runs a command in this process; its exit code and what it has said. */
export async function heard(
  run: (
    words: readonly string[],
    surroundings: ReturnType<typeof listening>['surroundings'],
  ) => Promise<number>,
  words: readonly string[],
  signal?: AbortSignal,
) {
  const { said, surroundings } = listening(signal)
  return { code: await run(words, surroundings), ...said }
}
