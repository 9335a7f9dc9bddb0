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
