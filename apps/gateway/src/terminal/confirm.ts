import { createInterface } from 'node:readline/promises'
import type { TerminalOutput } from './command-row.ts'
import { TerminalError } from './terminal-error.ts'

/**
 * Asks a question on the terminal; true for yes.
 *
 * @throws TerminalError where there is no terminal to ask at.
 */
export async function confirmed(
  question: string,
  { stdin, stderr }: Pick<TerminalOutput, 'stdin' | 'stderr'>,
): Promise<boolean> {
  if (!stdin.isTTY) {
    const advice = 'give --yes to do it, or --dry-run to count alone'
    throw new TerminalError('usage', `${question} There is no terminal to ask at: ${advice}.`)
  }
  const lines = createInterface({ input: stdin, output: stderr })
  // The end of the input is no yes.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), ended])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
