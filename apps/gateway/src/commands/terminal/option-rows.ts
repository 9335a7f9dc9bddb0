import type { TObject, TSchema } from '@sinclair/typebox'
import { InvalidArgumentError } from 'commander'
import type { OptionRow } from '../../config/option-row.ts'

/** Reads a number from `min` to `max`. */
export function numberFrom(min: number, max: number, isWhole = true): (text: string) => number {
  return (text) => {
    const number = text.trim() === '' ? Number.NaN : Number(text)
    const isRight = isWhole ? Number.isSafeInteger(number) : Number.isFinite(number)
    if (isRight && number >= min && number <= max) return number
    throw new InvalidArgumentError(`Give a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`)
  }
}

/** How many entries of a list are shown. */
export function limitOption(what: string, usual: number, max: number): OptionRow {
  const help = `${what} (default: ${usual})`
  return { name: 'limit', argument: 'n', help, read: numberFrom(1, max) }
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
  return { name, argument: 'n', help, read: numberFrom(min, max, type === 'integer') }
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
