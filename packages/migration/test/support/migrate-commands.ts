import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { sourcesWords } from '@crossgear/tools/gateway-program'

const command = new URL(
  '../../../../apps/gateway/src/commands/migrate/run-migrate.ts',
  import.meta.url,
)

/** Runs command lines one by one, each a JSON line of words, and answers with a JSON line. */
const program = `
  import { createInterface } from 'node:readline'
  const { runMigrate } = await import(${JSON.stringify(command.href)})
  for await (const line of createInterface({ input: process.stdin })) {
    let out = ''
    const write = (text) => (out += text)
    const surroundings = { env: {}, signal: new AbortController().signal, stdout: { write }, stderr: { write } }
    const code = await runMigrate(JSON.parse(line), surroundings)
    process.stdout.write(JSON.stringify({ code, out }) + '\\n')
  }`

export interface Said {
  readonly code: number
  readonly out: string
}

/** `crossgear migrate` in a process of its own, for many command lines: a start takes longer than most of them. */
export class MigrateCommands {
  readonly #child: ChildProcess
  readonly #answers: AsyncIterator<string>

  constructor() {
    const words = [...sourcesWords(), '--input-type=module', '-e', program]
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child = child
    this.#answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  }

  async run(words: readonly string[]): Promise<Said> {
    this.#child.stdin?.write(`${JSON.stringify(words)}\n`)
    const { value, done } = await this.#answers.next()
    if (done === true) throw new Error('the process has ended')
    return JSON.parse(value) as Said
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await exited
  }
}
