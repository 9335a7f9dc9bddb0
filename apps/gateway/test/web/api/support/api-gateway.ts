import { once } from 'node:events'
import { type Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { Static } from '@sinclair/typebox'
import type { ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, onTestFinished } from 'vitest'
import type { AccessOptions } from '../../../../src/web/api/access.ts'
import { endpoints } from '../../../../src/web/api/endpoints.ts'
import { openApiDocument } from '../../../../src/web/api/open-api.ts'
import type { actResult } from '../../../../src/web/api/schemas/acts.ts'
import type { jobDetail, jobPage } from '../../../../src/web/api/schemas/jobs.ts'
import type { WebLimit } from '../../../../src/operations/web-limits.ts'
import { webEndpoints } from '../../../../src/web/api/web-endpoints.ts'
import { createWebServer } from '../../../../src/web/web-server.ts'
import type { FwpClient } from '../../../doors/faktory/support/fwp-client.ts'
import {
  type ComposedGateway,
  type Flags,
  type Open,
  openOnRedis,
} from '../../../config/options/composed-gateway.ts'
import { recordingLog, type RecordingLog } from '../../../support/recording-log.ts'

export type JobPage = Static<typeof jobPage>
export type JobDetail = Static<typeof jobDetail>
export type ActResult = Static<typeof actResult>

export interface ApiReply {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: unknown
  /** Of a refusal. */
  readonly code: string | undefined
}

export interface AskOptions {
  readonly method?: string
  /** By name, or names and values by turns. */
  readonly headers?: OutgoingHttpHeaders | readonly string[]
  readonly body?: unknown
  /** Connections to use. One of its own. */
  readonly agent?: Agent
}

/** A gateway whose web port answers; each answer of the API is checked against the OpenAPI document. */
export interface ApiGateway {
  readonly gateway: ComposedGateway
  readonly port: number
  readonly log: RecordingLog
  /** Limits that were exceeded so far. */
  readonly limits: ReadonlySet<WebLimit>
  readonly ask: (path: string, options?: AskOptions) => Promise<ApiReply>
  /** The body of a GET that must succeed. */
  readonly get: (path: string) => Promise<unknown>
  readonly jobs: (query: string) => Promise<JobPage>
  /** Jobs of the queue `q` that ran at a consumer, which is returned, and failed for good. */
  readonly deadJobs: (...jids: readonly string[]) => Promise<FwpClient>
  readonly job: (name: string, query?: string) => Promise<JobDetail>
  /** The body of a POST by the operator that must succeed. */
  readonly act: (path: string, body?: unknown) => Promise<unknown>
  /** The result of an act of the operator on a job. */
  readonly actOn: (act: string, body: unknown) => Promise<ActResult>
  /** Reasons of logins that failed so far. */
  readonly failedLogins: readonly string[]
  /** Guards the port in another way, as a reload does. */
  readonly configure: (access: AccessOptions) => void
  /** Ends the web port. */
  readonly close: () => Promise<void>
  /** Status and code of a refusal. */
  readonly refusal: (path: string, options?: AskOptions) => Promise<readonly unknown[]>
}

/** The OpenAPI document that every gateway of the tests serves. */
export const publishedDocument: unknown = JSON.parse(
  JSON.stringify(openApiDocument({ ...webEndpoints, ...endpoints }, '0.1.0')),
)

export const operatorPassword = 'sesame, open'
export const readerPassword = 'only looking'
/** A client of another machine comes so through a proxy on this one. */
export const elsewhere = { 'X-Forwarded-For': '192.0.2.7' }
export const bearer = (password: string) => ({ Authorization: `Bearer ${password}` })

export const guarded: AccessOptions = { password: operatorPassword, readerPassword }

/** The API of gateways on a Redis of the file, which is emptied before each test if it is to be. */
export function apiOnRedis(how?: Parameters<typeof openOnRedis>[0]) {
  const { open, redis } = openOnRedis(how)
  return {
    redis,
    openApi: (access?: AccessOptions, flags?: Flags) => openApi(() => open(flags), access),
    /** A suite, which is skipped where there is no Redis. */
    describeApi: (name: string, body: () => void): void =>
      void describe.skipIf(lacksRedis)(name, body),
  }
}

export async function openApi(open: Open, access: AccessOptions = guarded): Promise<ApiGateway> {
  const gateway = await open()
  const log = recordingLog()
  const limits = new Set<WebLimit>()
  const failedLogins: string[] = []
  const web = createWebServer({
    figures: gateway.figures,
    check: () => Promise.resolve({ ready: true }),
    log: log.log,
    api: gateway.api,
    version: '0.1.0',
    access,
    storeKey: gateway.storeKey,
    pages: gateway.pages,
    acted: gateway.acted,
    hooks: {
      limited: (limit) => void limits.add(limit),
      loginFailed: (reason) => void failedLogins.push(reason),
    },
  })
  onTestFinished(() => web.close())
  const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
  const ask = async (path: string, options: AskOptions = {}): Promise<ApiReply> => {
    const reply = await sent(port, path, options)
    answers.check(options.method ?? 'GET', path, reply)
    return reply
  }
  const get = async (path: string): Promise<unknown> => succeeded(await ask(`/api/v1${path}`))
  const act = async (path: string, body: unknown = {}): Promise<unknown> => {
    const headers = bearer(operatorPassword)
    return succeeded(await ask(`/api/v1${path}`, { method: 'POST', headers, body }))
  }
  return {
    gateway,
    port,
    log,
    limits,
    failedLogins,
    ask,
    get,
    act,
    configure: (next) => web.configure(next),
    close: () => web.close(),
    deadJobs: async (...jids) => {
      const client = await gateway.consumer()
      for (const jid of jids) {
        await client.pushAndFetch(jid, { jobtype: 'f', queue: 'q', args: [jid], retry: -1 })
        await client.ask(`FAIL {"jid":"${jid}","errtype":"E","message":"disk full ${jid}"}`)
      }
      return client
    },
    jobs: async (query) => (await get(`/jobs?${query}`)) as JobPage,
    job: async (name, query = '') =>
      (await get(`/jobs/${encodeURIComponent(name)}?${query}`)) as JobDetail,
    actOn: async (name, body) => (await act(`/jobs/${name}`, body)) as ActResult,
    refusal: async (path, options) => {
      const { status, code } = await ask(`/api/v1${path}`, options)
      return [status, code]
    },
  }
}

function succeeded({ status, body }: ApiReply): unknown {
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body
}

/** One request on a connection of its own. */
export async function sent(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, agent }: AskOptions,
): Promise<ApiReply> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
  const isRaw = (given: typeof headers): given is readonly string[] => Array.isArray(given)
  const asking = request({
    port,
    path,
    method,
    host: '127.0.0.1',
    agent: agent ?? false,
    headers: isRaw(headers)
      ? [...Object.entries(type).flat(), ...headers]
      : { ...type, ...headers },
  })
  asking.end(text)
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  const isStream = String(answer.headers['content-type']).startsWith('text/event-stream')
  if (isStream) answer.destroy()
  const chunks: Buffer[] = []
  if (!isStream) for await (const chunk of answer) chunks.push(chunk as Buffer)
  const words = Buffer.concat(chunks).toString()
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  const parsed: unknown = isJson && words !== '' ? JSON.parse(words) : words
  const { error } = parsed as { error?: { code?: string } }
  const status = answer.statusCode ?? 0
  return { status, headers: answer.headers, body: parsed, code: error?.code }
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: object
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, Response>>
}

interface Response {
  readonly content: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>
}

/** Fails a test whose answer is not what the OpenAPI document promises. */
class AnswerChecker {
  readonly #document: OpenApi
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false })

  constructor(document: OpenApi) {
    this.#document = document
    this.#ajv.addSchema({ $id: 'openapi', components: document.components })
  }

  check(method: string, path: string, { status, body }: ApiReply): void {
    const operation = this.#operationOf(method, path.split('?', 1)[0] ?? '')
    const response = operation?.responses[String(status)] ?? operation?.responses['default']
    const media = response?.content['application/json']
    if (!media || method === 'HEAD') return
    const { schema } = media
    // Compiled once, by name or by schema.
    const validate =
      (schema.$ref === undefined ? undefined : this.#ajv.getSchema(`openapi${schema.$ref}`)) ??
      this.#ajv.compile(schema)
    if (validate(body)) return
    const faults = (validate.errors ?? []).map(
      ({ instancePath, message }: ErrorObject) => `${instancePath} ${message ?? ''}`,
    )
    throw new Error(`${method} ${path} answered ${status} unlike its schema: ${faults.join('; ')}`)
  }

  #operationOf(method: string, path: string): Operation | undefined {
    const found = Object.entries(this.#document.paths).flatMap(([template, methods]) => {
      const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
      const operation = methods[method.toLowerCase()]
      return pattern.test(path) && operation ? [{ template, operation }] : []
    })
    // `/jobs/retry` is no job.
    found.sort(
      (one, other) => Number(one.template.includes('{')) - Number(other.template.includes('{')),
    )
    return found[0]?.operation
  }
}

/** Of all gateways: its schemas are compiled once. */
const answers = new AnswerChecker(publishedDocument as OpenApi)
