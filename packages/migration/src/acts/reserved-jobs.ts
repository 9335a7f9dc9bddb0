import type { JobName } from '../record/record.ts'

/** Names of the jobs of a page, as the progress of a migration keeps them until the page is removed at the source. */
export function textOfReserved(names: readonly JobName[]): string {
  return JSON.stringify(
    names.map(({ importId, fn, queue, jid }) => [importId.toString('hex'), fn, queue, jid]),
  )
}

/** The reverse; none of an empty text. */
export function reservedOf(text: string | undefined): readonly JobName[] {
  if (text === undefined || text === '') return []
  const rows = JSON.parse(text) as readonly (readonly [string, string, string?, string?])[]
  return rows.map(([importId, fn, queue, jid]) => ({
    importId: Buffer.from(importId, 'hex'),
    fn,
    // JSON has null for what is absent.
    ...(typeof queue === 'string' && { queue }),
    ...(typeof jid === 'string' && { jid }),
  }))
}
