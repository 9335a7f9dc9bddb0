import { commandTable } from '../command-table.ts'
import { completionName, type Shell, shells } from './names.ts'
import { scriptOf } from './scripts.ts'

const usage = `Usage: crossgear ${completionName} ${shells.join('|')}

Prints a script that completes commands, options and their values:
  bash  source <(crossgear completion bash)
  zsh   source <(crossgear completion zsh)
  fish  crossgear completion fish | source
`

interface Output {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** The script that completes the program's words in a shell. */
export function completionScript(shell: Shell): string {
  return scriptOf(shell, commandTable)
}

/** Runs `crossgear completion`; returns the exit code. */
export function runCompletion(words: readonly string[], { stdout, stderr }: Output): number {
  const [word, ...more] = words
  if (word === '--help' || word === '-h') {
    stdout.write(usage)
    return 0
  }
  const shell = shells.find((each) => each === word)
  if (!shell || more.length > 0) {
    stderr.write(`Name a shell: crossgear ${completionName} ${shells.join('|')}.\n`)
    return 1
  }
  stdout.write(completionScript(shell))
  return 0
}
