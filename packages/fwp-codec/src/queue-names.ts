import { FwpError } from './errors.ts'

/** The most queue names that one command may carry. */
const MAX_QUEUES = 1000

/** The words of `text` from `from` on, without repeats. Throws `TOO_MANY_QUEUES`. */
export function readQueueNames(text: string, from = 0): string[] {
  const names = new Set<string>()
  let words = 0
  for (let at = from; at < text.length;) {
    const space = text.indexOf(' ', at)
    const end = space === -1 ? text.length : space
    if (end > at) {
      if (++words > MAX_QUEUES) {
        throw new FwpError('TOO_MANY_QUEUES', `too many queues: at most ${MAX_QUEUES}`)
      }
      names.add(text.slice(at, end))
    }
    at = end + 1
  }
  return [...names]
}
