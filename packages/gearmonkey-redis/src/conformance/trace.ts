/** A command as the server saw it. */
export interface Seen {
  /** Unix time in seconds. */
  readonly time: number
  readonly source: string
  /** In upper case; for equivalent commands the one in the protocol's text. */
  readonly name: string
  readonly args: readonly string[]
}

/** Commands equivalent to one of the text. */
const synonyms: Readonly<Record<string, (args: readonly string[]) => readonly string[]>> = {
  HSET: (args) => ['HMSET', ...args],
  INCRBY: ([key = '', by = '']) => (by === '1' ? ['INCR', key] : ['INCRBY', key, by]),
  DECRBY: ([key = '', by = '']) => (by === '1' ? ['DECR', key] : ['DECRBY', key, by]),
  PEXPIRE: ([key = '', ms = '']) => ['EXPIRE', key, String(Number(ms) / 1000)],
}

export function seen(time: number, source: string, words: readonly string[]): Seen {
  const [given = '', ...rest] = words
  const [name = '', ...args] = synonyms[given.toUpperCase()]?.(rest) ?? [given, ...rest]
  return { time, source, name: name.toUpperCase(), args }
}

/** The fields that an HMSET sets. */
export function fieldsOf({ args }: Seen): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  for (let i = 1; i + 1 < args.length; i += 2) fields.set(args[i] ?? '', args[i + 1] ?? '')
  return fields
}

/** A command that must be seen. */
export interface Step {
  readonly must: string
  readonly is: (command: Seen) => boolean
}

/** A command with exactly these words. */
export function words(...expected: readonly string[]): Step {
  const [name, ...args] = expected
  return {
    must: expected.join(' '),
    is: (command) =>
      command.name === name &&
      command.args.length === args.length &&
      command.args.every((arg, i) => arg === args[i]),
  }
}

/** Faults of each step: absent, or before a step that must precede it. */
export function judgeOrder(
  trace: readonly Seen[],
  steps: readonly Step[],
): readonly { readonly must: string; readonly detail: string | undefined }[] {
  let latest = -1
  let after = ''
  return steps.map(({ must, is }) => {
    const at = trace.findIndex(is)
    const early = at >= 0 && at < latest
    const found = { must, detail: at < 0 ? 'not seen' : early ? `came before ${after}` : undefined }
    if (at > latest) {
      latest = at
      after = must
    }
    return found
  })
}

/** The function and job of the commands. */
export interface Subject {
  readonly fn: string
  readonly id?: number
}

/** A command with the protocol's placeholders in place of the subject. */
export function withPlaceholders(command: string, { fn, id }: Subject): string {
  const general = command.replaceAll(`:${fn}`, ':{FN}')
  if (id === undefined) return general
  return general
    .split(' ')
    .map((word) => word.replace(new RegExp(`(^|:)${id}$`), '$1{ID}'))
    .join(' ')
}
