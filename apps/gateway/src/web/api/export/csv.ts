import type { TSchema } from '@sinclair/typebox'

/** The place of a value in a row: the name of a property, and of a property of that. */
export type Column = readonly [string] | readonly [string, string]

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly anyOf?: readonly TSchema[]
}

/** Columns of rows of a schema: an object in a row has a column for each of its properties. */
export function columnsOf(schema: TSchema): readonly Column[] {
  return Object.entries(propertiesOf(schema) ?? {}).flatMap(([name, inner]): Column[] => {
    const parts = propertiesOf(inner)
    return parts ? Object.keys(parts).map((part) => [name, part]) : [[name]]
  })
}

function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> | undefined {
  const { properties, anyOf } = schema as ObjectSchema
  return properties ?? anyOf?.map(propertiesOf).find((found) => found !== undefined)
}

export function csvHead(columns: readonly Column[]): string {
  return csvLine(columns.map((column) => column.join('.')))
}

export function csvRow(columns: readonly Column[], row: object): string {
  return csvLine(
    columns.map(([name, part]) => {
      const value = valueOf(row, name)
      return part === undefined ? value : valueOf(value, part)
    }),
  )
}

function valueOf(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null
    ? (from as Readonly<Record<string, unknown>>)[name]
    : undefined
}

function csvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`
}

/** A spreadsheet would compute a text that begins so: the reason why these few lines are no library's. */
const formulaStart = /^[=+\-@\t\r]/

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') return quoted(JSON.stringify(value))
  return quoted(formulaStart.test(value) ? `'${value}` : value)
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
