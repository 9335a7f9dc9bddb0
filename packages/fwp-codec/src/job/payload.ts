/** Translation of a function's payload into Faktory arguments. */
export type PayloadRule = 'auto' | 'string' | 'json' | 'base64'

/** Faktory arguments: the JSON text of the array, and the encoding of its one string, if any. */
export interface FaktoryArgs {
  readonly args: string
  readonly encoding?: 'base64'
}

/**
 * Deepest nesting of arguments, their array included: a whole Faktory job may nest 512 deep. Deeper
 * JSON is text to Faktory workers, since none could push it.
 */
export const maxArgsDepth = 511

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The arguments for a Faktory worker of a stored payload, JSON as text. Rule `auto`: a JSON array is the arguments, an
 * object the one argument, other text (or deeper than {@link maxArgsDepth}) one string, other bytes one base64 string.
 */
export function argsOfInput(input: Uint8Array, rule: PayloadRule = 'auto'): FaktoryArgs {
  if (rule === 'base64') return base64Args(input)
  const text = decode(input)
  if (text === undefined) return base64Args(input)
  if (rule === 'json') return { args: isArgument(text) ? `[${text}]` : oneString(text) }
  if (rule === 'auto') {
    const first = firstCharacter(text)
    if (first === '[' && isJson(text) && !isDeeper(text, maxArgsDepth)) return { args: text }
    if (first === '{' && isArgument(text)) return { args: `[${text}]` }
  }
  return { args: oneString(text) }
}

/**
 * The stored payload for `args`, the text of a JSON array; inverse of {@link argsOfInput}: one string that would come back
 * as it is unchanged, one object (rule `json`: any one value) as its JSON, anything else as the JSON of the array.
 */
export function inputOfArgs(args: string, rule: PayloadRule = 'auto'): Buffer {
  const text = soleText(args)
  const stored = text === undefined ? undefined : inputOfString(text, rule)
  if (stored) return stored
  const inner = args.trim().slice(1, -1).trim()
  const first = inner[0]
  if (first === '"') {
    const values = JSON.parse(args) as unknown[]
    const value = values[0]
    if (values.length === 1 && typeof value === 'string') {
      const stored = inputOfString(value, rule)
      if (stored) return stored
    }
  }
  if (first === '{' || rule === 'json') {
    if ((JSON.parse(args) as unknown[]).length === 1) return Buffer.from(inner)
  }
  return Buffer.from(args)
}

/** The text of an array of one string without escapes, the most usual args; undefined for others. */
function soleText(args: string): string | undefined {
  const isSole = args.startsWith('["') && args.indexOf('"', 2) === args.length - 2
  if (!isSole || !args.endsWith(']') || args.includes('\\')) return undefined
  return args.slice(2, -2)
}

function inputOfString(value: string, rule: PayloadRule): Buffer | undefined {
  if (rule === 'base64') {
    const bytes = Buffer.from(value, 'base64')
    return bytes.toString('base64') === value ? bytes : undefined
  }
  if (!value.isWellFormed()) return undefined
  const stored = Buffer.from(value)
  if (rule !== 'json' && !'[{'.includes(firstCharacter(value))) return stored
  const back = JSON.parse(argsOfInput(stored, rule).args) as unknown[]
  return back.length === 1 && back[0] === value ? stored : undefined
}

function base64Args(input: Uint8Array): FaktoryArgs {
  return {
    args: oneString(Buffer.from(input.buffer, input.byteOffset, input.length).toString('base64')),
    encoding: 'base64',
  }
}

function oneString(text: string): string {
  return `[${JSON.stringify(text)}]`
}

function decode(input: Uint8Array): string | undefined {
  try {
    return utf8.decode(input)
  } catch {
    return undefined
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** True for JSON text that can be the one argument. */
function isArgument(text: string): boolean {
  return isJson(text) && !isDeeper(text, maxArgsDepth - 1)
}

/** True if a text that is valid JSON nests deeper than so many arrays and objects. */
export function isDeeper(json: string, max: number): boolean {
  // Each has two ends.
  if (json.length <= 2 * max) return false
  let depth = 0
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case '"':
        at = stringEnd(json, at)
        break
      case '[':
      case '{':
        depth += 1
        if (depth > max) return true
        break
      case ']':
      case '}':
        depth -= 1
        break
    }
  }
  return false
}

/** The end of the string that begins at `from`. */
function stringEnd(json: string, from: number): number {
  for (let end = json.indexOf('"', from + 1); ; end = json.indexOf('"', end + 1)) {
    let slashes = 0
    while (json[end - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return end
  }
}

function firstCharacter(text: string): string {
  for (const character of text) {
    if (!' \t\r\n'.includes(character)) return character
  }
  return ''
}
