import { StartError } from '../errors.ts'
import { closest } from './unknown-variables.ts'
import { isWhole, type TableField } from './value-kinds.ts'

/** True for one of these words. */
export function isWord(value: unknown, words: readonly string[]): boolean {
  return typeof value === 'string' && words.includes(value)
}

/** A key whose value is one of these words. */
export function oneOf(...words: readonly string[]): TableField {
  return { expected: words.join(', '), accepts: (value) => isWord(value, words) }
}

/** A key whose value is a whole number. */
export function wholeFrom(min: number, max: number, what = 'a whole number'): TableField {
  return { expected: `${what} from ${min} to ${max}`, accepts: (value) => isWhole(value, min, max) }
}

export const trueOrFalse: TableField = {
  expected: 'true or false',
  accepts: (value) => typeof value === 'boolean',
}

/** A key whose value is a text of this form. */
export function matching(expected: string, pattern: RegExp): TableField {
  return { expected, accepts: (value) => typeof value === 'string' && pattern.test(value) }
}

export type Table = Readonly<Record<string, unknown>>

export function isTable(value: unknown): value is Table {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  )
}

/** Tables of the file under one name. */
interface Section {
  readonly name: string
  /** The name of each table. */
  readonly of: string
  readonly fields: Readonly<Record<string, TableField>>
  /** Why a table may not have its name. */
  readonly nameFault?: (name: string) => string | undefined
}

/** The tables of a section with their keys checked; none where the file has none. Throws a StartError. */
export function readSection(
  given: unknown,
  { name: section, of, fields, nameFault }: Section,
  file: string,
): readonly (readonly [name: string, table: Table])[] {
  if (given === undefined) return []
  const refusal = refusalIn(file)
  if (!isTable(given)) throw refusal(section, `is not a table: write [${section}.<${of}>]`)
  return Object.entries(given).map(([name, table]) => {
    const place = `${section}.${name}`
    const fault = nameFault?.(name)
    if (fault !== undefined) throw refusal(place, fault)
    return [name, checkedTable(table, place, fields, file)]
  })
}

/** A table with its keys checked. Throws a StartError. */
export function checkedTable(
  table: unknown,
  place: string,
  fields: Readonly<Record<string, TableField>>,
  file: string,
): Table {
  const refusal = refusalIn(file)
  if (!isTable(table)) throw refusal(place, `is not a table: write [${place}]`)
  for (const [key, value] of Object.entries(table)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (!field) {
      const advice = closest(key, Object.keys(fields)) ?? Object.keys(fields).join(', ')
      throw refusal(`${place}.${key}`, `is unknown: use ${advice}`)
    }
    if (!field.accepts(value)) {
      const shown = field.isSecret ? 'is wrong' : `is ${JSON.stringify(value)}`
      throw refusal(`${place}.${key}`, `${shown}: give ${field.expected}`)
    }
  }
  return table
}

/** Makes the error for a place in the file. */
export function refusalIn(file: string): (place: string, fault: string) => StartError {
  return (place, fault) => new StartError(`${place} in ${file} ${fault}.`, 2)
}
