import { Command } from 'ioredis'
import type { ScriptArgument } from './script-name.ts'

/** Most bytes of a bulk string beside its own: `$`, its length, and two ends of line. */
const mostAround = 20
const end = '\r\n'

/** A command as its bytes: one copy of each argument, and no list of pieces that ioredis joins. */
export class EncodedCommand extends Command {
  readonly #bytes: Buffer

  constructor(name: string, words: readonly ScriptArgument[]) {
    super(name, [], { replyEncoding: null })
    this.#bytes = encode(name, words)
  }

  override toWritable(): Buffer {
    return this.#bytes
  }
}

/** `*<words>`, then each, the name first, as `$<bytes>`, itself. Texts between bytes are written together. */
function encode(name: string, words: readonly ScriptArgument[]): Buffer {
  const bytes = Buffer.allocUnsafe(mostBytes(words) + 2 * mostAround + name.length)
  let at = 0
  let text = `*${words.length + 1}${end}$${name.length}${end}${name}${end}`
  for (const word of words) {
    if (typeof word === 'string' || typeof word === 'number') {
      const shown = String(word)
      text += `$${Buffer.byteLength(shown)}${end}${shown}${end}`
      continue
    }
    at += bytes.write(`${text}$${word.length}${end}`, at)
    bytes.set(word, at)
    at += word.length
    text = end
  }
  at += bytes.write(text, at)
  return bytes.subarray(0, at)
}

function mostBytes(words: readonly ScriptArgument[]): number {
  let most = mostAround
  for (const word of words) {
    if (typeof word === 'string') most += mostAround + 3 * word.length
    else if (typeof word === 'number') most += 2 * mostAround
    else most += mostAround + word.length
  }
  return most
}
