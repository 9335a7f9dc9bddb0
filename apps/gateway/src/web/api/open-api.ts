import type { TSchema } from '@sinclair/typebox'
import { apiPrefix } from '../../operations/page.ts'
import { apiErrors } from './api-error.ts'
import type { Endpoint } from './endpoint.ts'
import { apiError } from './schemas/common.ts'

/** The OpenAPI document of some endpoints, made from the schemas that check their requests. */
export function openApiDocument(
  all: Readonly<Record<string, Endpoint>>,
  version: string,
): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [operationId, endpoint] of Object.entries(all)) {
    const methods = (paths[apiPrefix + endpoint.path] ??= {})
    methods[endpoint.method.toLowerCase()] = operationOf(operationId, endpoint)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Crossgear',
      version,
      description:
        'Reads and changes the jobs of all protocols. docs/reference/api.md says who may call what.',
    },
    servers: [{ url: '/' }],
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A password of the web port' },
        basic: { type: 'http', scheme: 'basic', description: 'A person and their password' },
        session: { type: 'apiKey', in: 'cookie', name: 'crossgear_session' },
      },
      schemas: { Error: apiError },
    },
    paths,
  }
}

function operationOf(operationId: string, endpoint: Endpoint): Readonly<Record<string, unknown>> {
  const { summary, tag, role, params, query, body, answer, status = 200, type } = endpoint
  return {
    operationId,
    summary,
    tags: [tag],
    'x-role': role,
    security: role === 'anyone' ? [] : [{ bearer: [] }, { basic: [] }, { session: [] }],
    parameters: [...parametersOf(params, 'path'), ...parametersOf(query, 'query')],
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      [String(status)]: {
        description: summary,
        content: { [type ?? 'application/json']: { schema: answer } },
      },
      default: {
        description: `A refusal; its code is one of ${Object.keys(apiErrors).join(', ')}`,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function parametersOf(schema: TSchema, where: 'path' | 'query') {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, unknown>>
  const required = (schema['required'] ?? []) as readonly string[]
  return Object.entries(properties).map(([name, own]) => {
    return { name, in: where, required: required.includes(name), schema: own }
  })
}
