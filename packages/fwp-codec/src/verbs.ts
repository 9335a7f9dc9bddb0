/** The verbs on the wire: case matters. */
const verbs = [
  'HELLO',
  'END',
  'PUSH',
  'PUSHB',
  'FETCH',
  'ACK',
  'FAIL',
  'BEAT',
  'INFO',
  'FLUSH',
  'MUTATE',
  'QUEUE',
  'TRACK',
  'BATCH',
] as const

/** A verb of the protocol. */
export type Verb = (typeof verbs)[number]

/** A line, cut at its first space. */
export type Command =
  | { readonly verb: Verb; /** A view of the line. */ readonly argument: Buffer }
  | { readonly verb: 'UNKNOWN'; /** At most 64 bytes of it. */ readonly word: string }

const space = 0x20
const maxWordBytes = 64
const longestVerb = Math.max(...verbs.map((verb) => verb.length))
const noArgument = Buffer.alloc(0)
const byWord: ReadonlyMap<string, Verb> = new Map(verbs.map((verb) => [verb, verb]))

/** Cuts a line into verb and argument: `VERB[ argument]`. Never throws. */
export function parseCommand(line: Buffer): Command {
  const end = wordEnd(line)
  if (end <= longestVerb) {
    const verb = byWord.get(line.toString('latin1', 0, end))
    if (verb !== undefined) {
      return { verb, argument: end < line.length ? line.subarray(end + 1) : noArgument }
    }
  }
  return { verb: 'UNKNOWN', word: line.toString('utf8', 0, end) }
}

/** End of the first word, searched no further than an error repeats. */
function wordEnd(line: Buffer): number {
  const last = Math.min(line.length, maxWordBytes)
  for (let at = 0; at < last; at++) if (line[at] === space) return at
  return last
}
