import { randomBytes } from 'node:crypto'

/** A piece of an act on all that a filter takes: the audit has one entry for the act, and records for each piece. */
export interface ActPiece {
  readonly name: string
  readonly number: number
}

/** The cursor of a list, and behind it the piece that it leads to. */
const form = /^([A-Za-z0-9_-]*)~([A-Za-z0-9_-]{12})\.(\d{1,6})$/
const recordsForm = /^([A-Za-z0-9_-]{12})(?:\.(\d{1,6}))?$/

/** A name that no act has: 12 characters. */
export function newActName(): string {
  return randomBytes(9).toString('base64url')
}

/** The piece that a cursor leads to, or the first one of a new act. */
export function pieceAt(cursor: string | undefined, newName = newActName): ActPiece {
  return pieceOf(cursor) ?? { name: newName(), number: 0 }
}

/** The piece to which a cursor leads; undefined for one that leads to none. */
export function pieceOf(cursor: string | undefined): ActPiece | undefined {
  const [, , name, number] = form.exec(cursor ?? '') ?? []
  return name === undefined ? undefined : { name, number: Number(number) }
}

/** The cursor of the list alone. */
export function listCursorOf(cursor: string | undefined): string | undefined {
  return form.exec(cursor ?? '')?.[1] ?? cursor
}

/** The cursor that leads to the piece behind this one; null where that is the last. */
export function nextPiece(cursor: string | null, { name, number }: ActPiece): string | null {
  return cursor === null ? null : `${cursor}~${name}.${number + 1}`
}

/** The name of the records of a piece. */
export function recordsOf({ name, number }: ActPiece): string {
  return number === 0 ? name : `${name}.${number}`
}

/** The names of the records of an act up to those of a piece. */
export function recordsUpTo(records: string): readonly string[] {
  const [, name = records, last = '0'] = recordsForm.exec(records) ?? []
  return Array.from({ length: Number(last) + 1 }, (_none, number) => recordsOf({ name, number }))
}
