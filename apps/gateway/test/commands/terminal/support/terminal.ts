import { PassThrough } from 'node:stream'
import { runTerminal } from '../../../../src/commands/terminal/run-terminal.ts'
import { type ApiGateway, operatorPassword } from '../../../web/api/support/api-gateway.ts'

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  /** Typed at a terminal. There is none. */
  readonly typed?: string
  /** Columns of a terminal that shows the output. There is none. */
  readonly columns?: number
}

/** Runs a command in this process, with streams of its own. */
export async function crossgear(
  words: readonly string[],
  { env = {}, typed, columns }: Surroundings = {},
): Promise<Said> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const said = { stdout: '', stderr: '' }
  stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()))
  stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()))
  Object.assign(stdin, { isTTY: typed !== undefined })
  Object.assign(stderr, { isTTY: typed !== undefined })
  Object.assign(stdout, { isTTY: columns !== undefined, columns })
  if (typed !== undefined) stdin.write(typed)
  const code = await runTerminal(words, {
    env,
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
    stopSignal: () => new AbortController().signal,
  })
  return { code, ...said }
}

/** The commands of an operator of a gateway. */
export function operatorOf({ port }: ApiGateway) {
  const env = {
    CROSSGEAR_URL: `http://127.0.0.1:${port}`,
    CROSSGEAR_WEB_PASSWORD: operatorPassword,
  }
  return {
    env,
    run: (words: string, more: Surroundings = {}): Promise<Said> =>
      crossgear(words.split(' '), { env, ...more }),
  }
}
