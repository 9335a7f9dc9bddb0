import { readFileSync } from 'node:fs'
import { oneLine, StartError } from '../errors.ts'

/**
 * A secret, or the content of the file that a value with a leading slash names. `from` names the setting.
 *
 * @throws StartError (code 2) for a file that cannot be read, or is empty.
 */
export function readSecret(from: string, value: string): string {
  if (!value.startsWith('/')) return value
  let content: string
  try {
    content = readFileSync(value, 'utf8').trimEnd()
  } catch (error) {
    const advice = 'a value that begins with / must be a file that can be read'
    throw new StartError(`${from} names ${value}: ${advice} (${oneLine(error)}).`, 2, {
      cause: error,
    })
  }
  if (content === '') {
    throw new StartError(`${from} names ${value}, which is empty: write the secret into it.`, 2)
  }
  return content
}
