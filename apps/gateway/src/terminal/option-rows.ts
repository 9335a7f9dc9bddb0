import type { TObject, TSchema } from '@sinclair/typebox'

/** One option of a command: it makes the parser, the help, shell completion and manual pages. */
export interface OptionRow {
  /** The name of its value; for options made from a schema that of the API. */
  readonly name: string
  /** Absent where the option takes no value. */
  readonly argument?: string
  readonly help: string
  /** All values that it takes. Any. */
  readonly choices?: readonly string[]
  /** Numbers that it takes. */
  readonly range?: { readonly min: number; readonly max: number; readonly isWhole: boolean }
}

/** A positional argument of a command. */
export interface ArgumentRow {
  readonly name: string
  readonly help: string
  readonly isRequired?: boolean
  readonly isMany?: boolean
}

/** `older_than_seconds` is `--older-than-seconds`. */
export function flagOfRow({ name }: OptionRow): string {
  return `--${name.replaceAll('_', '-')}`
}

/** The options that the properties of a schema of the API are, without some. */
export function optionsOf(schema: TObject, except: readonly string[] = []): readonly OptionRow[] {
  return Object.entries(schema.properties).flatMap(([name, property]) =>
    except.includes(name) ? [] : [optionOf(name, property)],
  )
}

function optionOf(name: string, schema: TSchema): OptionRow {
  const { type, description = '', minimum, maximum } = schema as Facets
  const help = helpOf(description)
  const choices = schema['enum'] as readonly string[] | undefined
  if (choices) return { name, argument: 'word', help, choices }
  if (type === 'boolean') return { name, help }
  if (type !== 'integer' && type !== 'number') return { name, argument: argumentOf(name), help }
  const [min = 0, max = Number.MAX_SAFE_INTEGER] = [minimum, maximum]
  return { name, argument: 'n', help, range: { min, max, isWhole: type === 'integer' } }
}

/** A description of the API, such as `Delay until the job is due. 0`, as a help text has it. */
function helpOf(description: string): string {
  const [, text = description, usual] = /^(.*)\. (\w+)\.?$/.exec(description) ?? []
  const isName = /^(Faktory|Gearman)\b/.test(text)
  const help = isName ? text : `${text.charAt(0).toLowerCase()}${text.slice(1)}`
  return usual === undefined ? help : `${help} (default: ${usual.toLowerCase()})`
}

interface Facets {
  readonly type?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
}

function argumentOf(name: string): string {
  return name.split('_').at(-1) ?? name
}
