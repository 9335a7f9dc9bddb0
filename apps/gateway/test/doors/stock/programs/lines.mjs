// Shared by the programs on Node: commands come as lines, bytes travel as hex.
import { createInterface } from 'node:readline'

export const say = (...words) => void process.stdout.write(`${words.join(' ')}\n`)

export const bytes = (data) => Buffer.from(data ?? '').toString('hex') || '-'

export const unhex = (text) => Buffer.from(text === '-' ? '' : text, 'hex')

/** Carries out one line after the other: verb, function, data, and what the verb has further. */
export async function obey(verbs) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, fn, hex, ...rest] = line.split(' ')
    await verbs[verb](fn, unhex(hex), ...rest)
    say('.')
  }
  process.exit(0)
}

/** Resolves at the next line; ends the program when no more can come. */
export function lineTaker() {
  const input = createInterface({ input: process.stdin })
  input.once('close', () => process.exit(0))
  return () => new Promise((resolve) => input.once('line', resolve))
}
