import { isDeeper, maxJsonDepth } from '@crossgear/fwp-codec'

/** The value of a JSON text from outside. Throws a SyntaxError, also for nesting at which JSON.stringify fails. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (isDeeper(text, maxJsonDepth)) throw new SyntaxError(`deeper than ${maxJsonDepth}`)
  return value
}
