import { FwpError, scanObject } from '@crossgear/fwp-codec'

const none: ReadonlyMap<string, string> = new Map()

/** The members of a stored JSON object; none where another program has put something else in its place. */
export function membersOf(text: string | undefined): ReadonlyMap<string, string> {
  if (text === undefined) return none
  try {
    return scanObject(text)
  } catch (error) {
    if (!(error instanceof FwpError)) throw error
    return none
  }
}

/**
 * The envelope of a pushed job with other values, which its worker gets. Null leaves a member out. An
 * envelope without a jobtype stays as it is.
 */
export function changedEnvelope(
  envelope: string,
  changes: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const members = new Map(membersOf(envelope))
  if (!members.has('jobtype')) return envelope
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) members.delete(name)
    else if (value !== undefined) members.set(name, JSON.stringify(value))
  }
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}
