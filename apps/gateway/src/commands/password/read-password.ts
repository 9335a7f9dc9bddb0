import { StringDecoder } from 'node:string_decoder'
import { StartError } from '../../errors.ts'

/** A terminal, or another stream of bytes. */
export type PasswordInput = Pick<
  NodeJS.ReadStream,
  'isTTY' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'
>

const longest = 1_024
const [interrupt, endOfInput, backspace, del] = ['\u0003', '\u0004', '\b', '\u007f']

/** A line as it is typed. */
class Line {
  readonly letters: string[] = []
  readonly #isTyped: boolean

  constructor(isTyped: boolean) {
    this.#isTyped = isTyped
  }

  /** Takes a letter; says if the line goes on, or why it cannot. */
  take(letter: string): 'more' | 'ended' | StartError {
    if (letter === '\n' || letter === '\r') return 'ended'
    if (this.#isTyped) {
      if (letter === endOfInput) return 'ended'
      if (letter === interrupt) return new StartError('Stopped.', 2)
      if (letter === backspace || letter === del) {
        this.letters.pop()
        return 'more'
      }
    }
    this.letters.push(letter)
    if (this.letters.length <= longest) return 'more'
    return new StartError(`The password is longer than ${longest} letters: take a shorter one.`, 2)
  }
}

/**
 * The first line of a stream; nothing that is typed is shown.
 *
 * @throws StartError (code 2) for one that is too long, or an interrupt.
 */
export async function readPassword(stdin: PasswordInput): Promise<string> {
  const decoder = new StringDecoder('utf8')
  const line = new Line(stdin.isTTY)
  if (stdin.isTTY) stdin.setRawMode(true)
  try {
    return await new Promise<string>((resolve, reject) => {
      const stop = (): void => {
        stdin.off('data', onData)
        stdin.off('end', onEnd)
        stdin.pause()
      }
      const onEnd = (): void => {
        stop()
        resolve(line.letters.join(''))
      }
      const onData = (chunk: Buffer): void => {
        for (const letter of decoder.write(chunk)) {
          const taken = line.take(letter)
          if (taken === 'more') continue
          if (taken === 'ended') onEnd()
          else {
            stop()
            reject(taken)
          }
          return
        }
      }
      stdin.on('data', onData)
      stdin.on('end', onEnd)
      stdin.resume()
    })
  } finally {
    if (stdin.isTTY) stdin.setRawMode(false)
  }
}
