import type { FastifyError } from 'fastify'

type Fault = NonNullable<FastifyError['validation']>[number]

const typeWords: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

/** Patterns of the schemas, by the last name on the way to the value. */
const queuePattern = 'have 1 to 255 letters, digits, dots, hyphens or underscores'
const patternWords: Readonly<Record<string, string>> = {
  queue: queuePattern,
  to_queue: queuePattern,
  queues: queuePattern,
  base64: 'be base64',
  wid: 'have 1 to 255 characters, none of them zero',
}

const limitOf = ({ params }: Fault): number => Number(params['limit'])
const shortest = (fault: Fault): string =>
  limitOf(fault) === 1 ? 'not be empty' : `have ${limitOf(fault)} characters or more`

/** The words behind `must`, by the rule that a value broke. */
const rules: Readonly<Record<string, (fault: Fault) => string>> = {
  type: ({ params }) => {
    const types = [params['type']].flat().map(String)
    return `be ${types.map((type) => typeWords[type] ?? type).join(' or ')}`
  },
  enum: ({ params }) => `be one of ${[params['allowedValues']].flat().map(String).join(', ')}`,
  minimum: (fault) => `be ${limitOf(fault)} or more`,
  maximum: (fault) => `be ${limitOf(fault)} or less`,
  minLength: shortest,
  maxLength: (fault) => `have ${limitOf(fault)} characters or less`,
  minItems: shortest,
  maxItems: (fault) => `have ${limitOf(fault)} entries or less`,
}

/** The name of a value, as in `filter.state` and `queues[0]`, or of the part of the call that it is. */
function nameOf(path: string, part: string): string {
  const names = path.split('/').slice(1)
  if (names.length === 0) return `the ${part}`
  return names
    .map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`))
    .join('')
    .slice(1)
}

/** One fault as a sentence without its end. */
function sentenceOf(fault: Fault, part: string): string {
  const { keyword, instancePath, params, message = 'is not valid' } = fault
  const name = nameOf(instancePath, part)
  const names = instancePath.split('/').filter((one) => !/^\d*$/.test(one))
  if (keyword === 'required') {
    return `${nameOf(`${instancePath}/${String(params['missingProperty'])}`, part)} is missing`
  }
  if (keyword === 'additionalProperties') {
    return `${name} takes no "${String(params['additionalProperty'])}"`
  }
  const words = keyword === 'pattern' ? patternWords[names.at(-1) ?? ''] : rules[keyword]?.(fault)
  return words === undefined ? `${name} ${message}` : `${name} must ${words}`
}

/** The faults of a value that fits none of several forms: those of the form that was meant, or of all. */
function choiceOf(faults: readonly Fault[], part: string): string | undefined {
  const choice = faults.at(-1)
  if (choice?.keyword !== 'anyOf') return undefined
  const inside = faults.find(({ instancePath }) => instancePath.length > choice.instancePath.length)
  if (inside) return sentenceOf(inside, part)
  const missing = faults.flatMap(({ keyword, params }) =>
    keyword === 'required' ? [String(params['missingProperty'])] : [],
  )
  if (missing.length < 2) return undefined
  return `${nameOf(choice.instancePath, part)} needs one of ${missing.join(', ')}`
}

/** Says what is wrong with a call: `state must be one of ...`. */
export function validationWords({ message, validation, validationContext }: FastifyError): string {
  const [fault] = validation ?? []
  if (!fault) return message
  const part = validationContext === 'querystring' ? 'query' : (validationContext ?? 'call')
  return choiceOf(validation ?? [], part) ?? sentenceOf(fault, part)
}
