import { maxJsonDepth } from '@crossgear/fwp-codec'
import type { Static, TSchema } from '@sinclair/typebox'
import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { StartError } from '../../errors.ts'
import { parseJson } from '../../json.ts'
import type { Logger } from '../../config/log/logger.ts'
import type { logIn, Reload } from './schemas/session.ts'
import { type Access, type Identity, sessionCookie } from './access.ts'
import { rightsOf, type Role } from './roles.ts'
import type { ApiBackend, ApiInput } from './api.ts'
import {
  type ApiAnswer,
  ApiError,
  type ApiErrorCode,
  apiErrors,
  refusalAnswer,
} from './api-error.ts'
import { actOfCall, whoIs } from './act-of-call.ts'
import { type OnAct, unnoted } from '../../doors/net/act.ts'
import { answerText } from './answer-text.ts'
import { type CallKind, kindOf, unitsOf } from './limits/call-cost.ts'
import type { CallLimiter } from './limits/call-limiter.ts'
import type { WebLimit } from '../../operations/web-limits.ts'
import type { Endpoint } from './endpoint.ts'
import { endpoints, operationNames } from './endpoints.ts'
import type { EventStream } from './event-stream.ts'
import { exportNames } from './export/export-lists.ts'
import { Exports } from './export/export-stream.ts'
import { validationWords } from './fault-words.ts'
import { openApiDocument } from './open-api.ts'
import { sessionSeconds } from './session-tokens.ts'
import { webEndpoints } from './web-endpoints.ts'

/** A longer body is refused. */
export const maxApiBodyBytes = 1024 * 1024

export interface ApiRoutesParts {
  readonly backend: ApiBackend
  readonly access: Access
  readonly limiters: Readonly<Record<CallKind, CallLimiter>>
  readonly events: EventStream
  readonly limited: (limit: WebLimit, address?: string) => void
  readonly version: string
  readonly log: Logger
  /** Reads the settings again. Not possible. */
  readonly reload?: Reload
  /** Notes acts in the audit. Nothing. */
  readonly acted?: OnAct
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The role that a route of the API needs. An admin's. */
    role?: Endpoint['role']
  }
}

type Handler = (
  request: FastifyRequest,
  identity: Identity,
  reply: FastifyReply,
) => Promise<ApiAnswer | undefined>

/** The routes of the API, below its prefix. */
export function apiRoutes(app: FastifyInstance, parts: ApiRoutesParts): void {
  const { backend, access, limiters, events, version, log, reload, limited } = parts
  const { acted = unnoted } = parts
  const texts = new AnswerTexts()
  onlyJson(app)
  checkWith(app)
  app.setErrorHandler((error: FastifyError | ApiError, request, reply) => {
    const { code, message } = refusalOf(error)
    if (code === 'internal_error') log.error({ err: error }, 'A call of the API failed.')
    const limit = error instanceof ApiError ? error.limit : undefined
    if (limit) limited(limit, request.socket.remoteAddress)
    else if (code === 'body_too_large') limited(code, request.socket.remoteAddress)
    if (error instanceof ApiError && error.retryAfterSeconds !== undefined) {
      reply.header('Retry-After', String(error.retryAfterSeconds))
    }
    return refuse(reply, code, message)
  })
  app.setNotFoundHandler((request, reply) => {
    const words = `no such operation: ${request.method} ${request.url.split('?', 1)[0] ?? ''}`
    return refuse(reply, 'not_found', `${words}; see /api/v1/openapi.json`)
  })

  const identities = new WeakMap<FastifyRequest, Identity>()
  // All routes pass here: one that names no role is an admin's.
  app.addHook('onRequest', async (request) => {
    const { role = 'admin' } = request.routeOptions.config
    if (!request.is404) identities.set(request, await access.admit(request.raw, role))
  })
  const add = (name: string, endpoint: Endpoint, handler: Handler): void => {
    const { method, path, role, params, query, body, type } = endpoint
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      schema: { params, querystring: query, ...(body && { body }) },
      config: { role },
      // HEAD of the stream would never be answered.
      exposeHeadRoute: type === undefined,
      handler: async (request, reply) => {
        const identity = identities.get(request) ?? (await access.identify(request.raw))
        const input: ApiInput = request
        return await limiters[kindOf(name, input)].run(async (onCost) => {
          const answer = await handler(request, identity, reply)
          if (!answer) return reply
          const { text, isNew } = await texts.of(answer.body)
          const asked = Number(request.headers['content-length'] ?? 0)
          onCost(unitsOf(input, answer.body, asked + (isNew ? text.length : 0)))
          return send(reply, answer.status, text)
        })
      },
    })
  }
  const noted = async (
    name: string,
    identity: Identity,
    input: Pick<ApiInput, 'params' | 'body'>,
    answer: ApiAnswer,
  ): Promise<void> => {
    logAct(log, name, identity, answer)
    const act = actOfCall(name, identity, input, answer)
    if (act) await acted(act)
  }

  for (const name of operationNames) {
    const endpoint: Endpoint = endpoints[name]
    add(name, endpoint, async ({ params, query, body }, identity) => {
      const { queues, name: who } = identity
      const input = { params, query, body, ...(queues && { queues }), ...(who && { who }) }
      const answer = await backend.call(name, input)
      if (endpoint.method !== 'GET') await noted(name, identity, input, answer)
      return answer
    })
  }
  const document = openApiDocument({ ...webEndpoints, ...endpoints }, version)
  add('getOpenApi', webEndpoints.getOpenApi, () => Promise.resolve({ status: 200, body: document }))
  add('reload', webEndpoints.reload, async ({ params, body }, identity) => {
    const answer = await answerReload(reload)
    await noted('reload', identity, { params, body }, answer)
    return answer
  })
  add('watchEvents', webEndpoints.watchEvents, (_request, { queues }, reply) => {
    events.checkRoom()
    reply.hijack()
    events.add(reply.raw, queues)
    return Promise.resolve(undefined)
  })
  const exports = new Exports({ backend, limited, limiter: limiters.heavy })
  for (const name of exportNames) {
    add(name, webEndpoints[name], async ({ query }, { queues }, reply) => {
      const begun = await exports.begin(name, query as Readonly<Record<string, unknown>>, queues)
      if (!('send' in begun)) return begun
      reply.hijack()
      void begun.send(reply.raw)
      return undefined
    })
  }
  add('getSession', webEndpoints.getSession, (_request, { role, by, name, queues }) => {
    const who = { name: name ?? null, queues: queues ? [...queues] : null }
    const has = { has_operator: access.hasOperator, has_people: access.hasPeople }
    return Promise.resolve({ status: 200, body: { ...rightsView(role), by, ...who, ...has } })
  })
  add('logIn', webEndpoints.logIn, async (request, { address }, reply) => {
    const { password, name } = request.body as Static<typeof logIn>
    const { role, token } = await access.logIn(password, address, name)
    reply.header('Set-Cookie', cookie(token, sessionSeconds, request))
    log.info({ who: whoIs({ role, ...(name && { name }) }), address }, 'Logged in at the web port.')
    const body = { ...rightsView(role), token, expires_in_seconds: sessionSeconds }
    return { status: 201, body }
  })
  add('logOut', webEndpoints.logOut, (request, _identity, reply) => {
    reply.header('Set-Cookie', cookie('', 0, request))
    return Promise.resolve({ status: 200, body: {} })
  })
}

/** A role as it was before people had names, and as the configuration calls it. */
function rightsView(role: Role | undefined) {
  return {
    role: role === 'admin' ? 'operator' : (role ?? null),
    rights: role ? rightsOf[role] : null,
  }
}

async function answerReload(reload: Reload | undefined): Promise<ApiAnswer> {
  if (!reload) return refusalAnswer('not_running', 'this gateway cannot read its settings again')
  try {
    return { status: 200, body: await reload('the web port') }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return refusalAnswer('invalid_settings', error.message)
  }
}

/** Bodies are JSON and nothing else: no form of a web page elsewhere can send that unasked. */
function onlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'string', bodyLimit: maxApiBodyBytes } as const
  app.addContentTypeParser<string>('application/json', options, (_request, text, done) => {
    try {
      done(null, parseJson(text))
    } catch {
      done(
        new ApiError('invalid_json', `the body is not JSON, or nests deeper than ${maxJsonDepth}`),
      )
    }
  })
}

// Our own schemas are not checked: that takes 100 ms and more at the first call, while no door is served.
const schemaOptions = { strict: false, allErrors: false, meta: false, validateSchema: false }
const exact = new Ajv(schemaOptions)
const lenient = new Ajv({ ...schemaOptions, coerceTypes: true })

/** Texts of a query may stand for numbers; values of a body are what they are. */
function checkWith(app: FastifyInstance): void {
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => {
    // Compiled at the first call: half a second of the start for all of them.
    let compiled: ValidateFunction | undefined
    return (value: unknown) => {
      compiled ??= (httpPart === 'body' ? exact : lenient).compile(schema)
      return compiled(value) || { error: compiled.errors ?? [] }
    }
  })
}

const frameworkCodes: Readonly<Record<string, ApiErrorCode>> = {
  FST_ERR_VALIDATION: 'invalid_request',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
}

function refusalOf(error: FastifyError | ApiError): { code: ApiErrorCode; message: string } {
  if (error instanceof ApiError) return error
  const code = frameworkCodes[error.code]
  if (code === 'unsupported_media_type') return { code, message: 'send application/json' }
  if (code) return { code, message: validationWords(error) }
  const isTheirs = error.statusCode !== undefined && error.statusCode < 500
  return isTheirs
    ? { code: 'invalid_request', message: error.message }
    : { code: 'internal_error', message: 'the gateway failed: see its log' }
}

/** Answers as JSON. One that is given to several is written as text once. */
class AnswerTexts {
  readonly #known = new WeakMap<object, Promise<Buffer>>()

  async of(body: unknown): Promise<{ readonly text: Buffer; readonly isNew: boolean }> {
    if (typeof body !== 'object' || body === null) {
      return { text: await answerText(body), isNew: true }
    }
    const known = this.#known.get(body)
    const made = known ?? answerText(body)
    if (!known) this.#known.set(body, made)
    return { text: await made, isNew: !known }
  }
}

function refuse(reply: FastifyReply, code: ApiErrorCode, message: string): FastifyReply {
  const { status, body } = refusalAnswer(code, message)
  if (status === apiErrors.unauthorized) reply.header('WWW-Authenticate', 'Bearer')
  return send(reply, status, `${JSON.stringify(body)}\n`)
}

function send(reply: FastifyReply, status: number, text: string | Buffer): FastifyReply {
  return reply
    .code(status)
    .header('Cache-Control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(text)
}

function cookie(value: string, seconds: number, { headers, protocol }: FastifyRequest): string {
  const isTls = protocol === 'https' || headers['x-forwarded-proto'] === 'https'
  const parts = [`${sessionCookie}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict']
  return [...parts, `Max-Age=${seconds}`, ...(isTls ? ['Secure'] : [])].join('; ')
}

/** Figures of an answer that say how much an act did. */
const figures = ['dry_run', 'matched', 'done', 'job', 'queues', 'functions'] as const

function logAct(
  log: Logger,
  operation: string,
  identity: Identity,
  { status, body }: ApiAnswer,
): void {
  const answer = body as Readonly<Record<string, unknown>>
  const much = Object.fromEntries(
    figures.flatMap((name) => (answer[name] === undefined ? [] : [[name, answer[name]]])),
  )
  const { by, address } = identity
  const who = whoIs(identity)
  log.info({ who, by, address, operation, status, ...much }, `${operation} by the web port.`)
}
