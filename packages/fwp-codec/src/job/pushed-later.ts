import { type FwpJob, parseJobText } from './job.ts'
import { scanAnyCase } from './json-scan.ts'
import { isAbsent } from './raw-values.ts'

/**
 * Parses a job that the server pushes later. Without a jid, or with null, it gets one from `newJid`; without args an empty list.
 * Throws the errors of a PUSH.
 */
export function parsePushedLater(text: string, newJid: () => string): FwpJob {
  const fields = scanAnyCase(text)
  const added: string[] = []
  if (isAbsent(fields.get('jid'))) added.push(`"jid":${JSON.stringify(newJid())}`)
  if (isAbsent(fields.get('args'))) added.push('"args":[]')
  if (added.length === 0) return parseJobText(text)
  // Behind a null of the same name: the last of equal names counts.
  const separator = fields.size === 0 ? '' : ','
  return parseJobText(`${text.slice(0, -1)}${separator}${added.join(',')}}`)
}
