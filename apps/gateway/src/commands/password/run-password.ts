import { hashPassword } from '../../config/password-hash.ts'
import { StartError } from '../../errors.ts'
import { readPasswordArguments } from './arguments.ts'
import { type PasswordInput, readPassword } from './read-password.ts'

interface Output {
  write(text: string): unknown
}

export interface PasswordSurroundings {
  readonly stdin: PasswordInput
  readonly stdout: Output
  readonly stderr: Output
}

const minLetters = 8

/** Runs `crossgear password`; returns the exit code. */
export async function runPassword(
  words: readonly string[],
  { stdin, stdout, stderr }: PasswordSurroundings,
): Promise<number> {
  try {
    if (!readPasswordArguments(words, stdout)) return 0
    const ask = async (question: string): Promise<string> => {
      if (stdin.isTTY) stderr.write(question)
      const password = await readPassword(stdin)
      if (stdin.isTTY) stderr.write('\n')
      return password
    }
    const password = await ask('Password: ')
    if (password.length < minLetters) {
      throw new StartError(
        `The password is shorter than ${minLetters} letters: take a longer one.`,
        2,
      )
    }
    if (stdin.isTTY && (await ask('Again: ')) !== password) {
      throw new StartError('The two passwords differ: try again.', 2)
    }
    stdout.write(`password_hash = "${await hashPassword(password)}"\n`)
    return 0
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    stderr.write(`${error.message}\n`)
    return error.exitCode
  }
}
