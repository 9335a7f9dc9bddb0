import { FwpError, type FwpErrorCode } from './errors.ts'
import { scanObject } from './json-scan.ts'
import { decodeText, echo } from './text.ts'

/**
 * Reads the JSON object that is a command's argument. Whatever is wrong with it (`read` may throw
 * INVALID_JSON too) becomes the one error that the command has for it: `text`, and behind it the
 * argument where `echoes` says so.
 */
export function readArgument<Result>(
  argument: Buffer,
  failure: { readonly code: FwpErrorCode; readonly text: string; readonly echoes: boolean },
  read: (fields: ReadonlyMap<string, string>) => Result,
): Result {
  try {
    return read(scanObject(decodeText(argument)))
  } catch (error) {
    if (!(error instanceof FwpError) || error.code !== 'INVALID_JSON') throw error
    const text = failure.echoes ? `${failure.text} ${echo(argument)}` : failure.text
    throw new FwpError(failure.code, text, { cause: error })
  }
}

/** Refuses an argument for a reason of its own, to be thrown inside `readArgument`. */
export function refused(reason: string): FwpError {
  return new FwpError('INVALID_JSON', `invalid JSON: ${reason}`)
}
