import type { FastifyError } from 'fastify'

type Fault = NonNullable<FastifyError['validation']>[number]

/** Faults whose usual message does not name the value. */
const words: Readonly<Record<string, (fault: Fault) => string | undefined>> = {
  additionalProperties: ({ params }) => `has no property "${String(params['additionalProperty'])}"`,
  enum: ({ params }) => {
    const allowed: unknown = params['allowedValues']
    return Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : undefined
  },
}

/** The fault of a value that fits none of several forms: the properties of which one is missing, or the common message. */
function choiceOf(faults: readonly Fault[]): string | undefined {
  if (faults.at(-1)?.keyword !== 'anyOf') return undefined
  const missing = faults.flatMap(({ keyword, params }) =>
    keyword === 'required' ? [String(params['missingProperty'])] : [],
  )
  if (missing.length > 1) return `needs one of ${missing.join(', ')}`
  const wanted = new Set(faults.slice(0, -1).map(({ message }) => message))
  return wanted.size === 1 ? [...wanted][0] : undefined
}

/** Says what is wrong with a call, by its part: `query/state must be one of ...`. */
export function validationWords({ message, validation, validationContext }: FastifyError): string {
  const [fault] = validation ?? []
  const said = fault && (choiceOf(validation ?? []) ?? words[fault.keyword]?.(fault))
  const part = validationContext === 'querystring' ? 'query' : validationContext
  if (fault && said !== undefined) return `${part ?? ''}${fault.instancePath} ${said}`
  return message.replace(/^querystring/, 'query')
}
