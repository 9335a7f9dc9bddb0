import { oneLine, StartError, systemCode } from '../errors.ts'

const another = 'choose another with --data-dir or CROSSGEAR_DATA_DIR'

/** True for a failure of the disk, not of a file or folder. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(systemCode(error))
}

/** The error line for a data folder, or a file in it, that the system does not let the gateway use. */
export function folderFailure(path: string, cause: unknown): StartError {
  if (cause instanceof StartError) return cause
  const code = systemCode(cause)
  const line = isDiskFull(cause)
    ? `No space is left on the disk of ${path} (${code}): free some, or ${another}.`
    : code === 'EEXIST' || code === 'ENOTDIR'
      ? `${path} is not a folder (${code}): ${another}.`
      : `The folder ${path} cannot be used (${code || oneLine(cause)}): ${another}.`
  return new StartError(line, 1, { cause })
}
