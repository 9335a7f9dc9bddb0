/** Bytes between fields of a message. */
const nul = 0
const lengthsForm = /^=\d{1,10}(,\d{1,10})*$/
const wholeForm = /^\d{1,15}$/

/**
 * A message of several fields, as `framed` in lua/lib/keys.lua writes it: `field NUL field NUL =5,7`, with the length of
 * each field in bytes at the end. A gateway of a former version reads the fields before it, and nothing more.
 */
export function framed(...fields: readonly string[]): string {
  const lengths = fields.map((field) => Buffer.byteLength(field)).join(',')
  return `${fields.join('\0')}\0=${lengths}`
}

/**
 * The fields of a message. One without lengths is that of a former version, whose fields have no NUL in them; one with
 * wrong lengths is none.
 */
export function fieldsOf(message: Buffer): readonly string[] {
  const last = message.lastIndexOf(nul)
  const lengths = message.toString('latin1', last + 1)
  if (!lengthsForm.test(lengths)) return message.toString().split('\0')
  const fields: string[] = []
  let at = 0
  for (const length of lengths.slice(1).split(',')) {
    const end = at + Number(length)
    if (end > last || message[end] !== nul) return []
    fields.push(message.toString('utf8', at, end))
    at = end + 1
  }
  return at === last + 1 ? fields : []
}

/** A whole number that is not negative; undefined for any other text. */
export function wholeOf(text: string | undefined): number | undefined {
  return text !== undefined && wholeForm.test(text) ? Number(text) : undefined
}
