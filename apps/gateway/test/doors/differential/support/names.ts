import { createHash } from 'node:crypto'
import type { Bytes } from '../script.ts'
import type { Message } from './message-reader.ts'

/** Longer bodies are compared by their hash. */
const longestShown = 400
const givesHandle = new Set(['JOB_CREATED', 'JOB_ASSIGN', 'JOB_ASSIGN_UNIQ', 'JOB_ASSIGN_ALL'])

/** Calls the handles of one server H#1, H#2 and so on, in the order in which they appear. */
export class Names {
  readonly #handles: string[] = []

  /** A message as a line of text; handles, versions, process and descriptor numbers made equal. */
  lineOf(message: Message): string {
    this.#learn(message)
    const text = this.#withNames(message.body.toString('latin1'))
    if (message.kind === 'text') return JSON.stringify(withoutNumbers(text))
    if (text === '') return message.name
    const shown = text.length > longestShown ? digestOf(text) : escaped(text)
    return `${message.name} ${shown}`
  }

  /** Puts handles into what is to be sent. */
  fill(bytes: Bytes): Buffer {
    if (typeof bytes !== 'string') return bytes
    const [, seconds] = /^now\+(\d)$/.exec(bytes) ?? []
    if (seconds) return Buffer.from(String(Math.floor(Date.now() / 1000) + Number(seconds)))
    const text = bytes.replaceAll(/H#(\d+)/g, (name, number: string) => {
      return this.#handles[Number(number) - 1] ?? name
    })
    return Buffer.from(text, 'latin1')
  }

  #learn(message: Message): void {
    if (message.kind === 'text' || !givesHandle.has(message.name)) return
    const [handle = ''] = message.body.toString('latin1').split('\0', 1)
    if (!this.#handles.includes(handle)) this.#handles.push(handle)
  }

  #withNames(text: string): string {
    const longestFirst = [...this.#handles.entries()].sort(([, a], [, b]) => b.length - a.length)
    return longestFirst.reduce((named, [at, handle]) => {
      return named.replaceAll(handle, () => `H#${at + 1}`)
    }, text)
  }
}

function withoutNumbers(text: string): string {
  return text
    .replace(/^OK (\d+\.[\w.+]+)\n$/, 'OK <version>\n')
    .replace(/^OK \d+\n$/, 'OK <pid>\n')
    .replace(/^\d+ (127\.0\.0\.1 )/, '<fd> $1')
}

function digestOf(text: string): string {
  const digest = createHash('sha1').update(text, 'latin1').digest('hex').slice(0, 12)
  return `<${text.length} bytes, ${digest}>`
}

/** NUL as a bar, other bytes that do not print as `\xNN`. */
function escaped(text: string): string {
  return text.replaceAll(/[^ -{}-~]/g, (byte) => {
    return byte === '\0' ? '|' : `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}
