import { setTimeout as delay } from 'node:timers/promises'
import type { Static } from '@sinclair/typebox'
import type { Endpoint, Input } from '../../web/api/endpoint.ts'
import { endpoints } from '../../web/api/endpoints.ts'
import { webEndpoints } from '../../web/api/web-endpoints.ts'
import { oneLine, systemCode } from '../../errors.ts'
import { apiPrefix } from '../../operations/page.ts'
import type { GatewayAddress } from './gateway-address.ts'
import { type Answered, askOverHttp } from './request.ts'
import { refusalOf, TerminalError } from './terminal-error.ts'

/** Every operation that a command may call. */
export const operations = { ...endpoints, reload: webEndpoints.reload } as const
type Operations = typeof operations
export type Operation = keyof Operations

export type Answer<Name extends Operation> = Static<Operations[Name]['answer']>
export type Asked<Name extends Operation> = Partial<Input<Operations[Name]>>

/** Silence after which a gateway counts as away, milliseconds. */
const answerTimeoutMs = 30_000
/** Time that a call which is refused as one too many waits altogether, milliseconds. */
const patienceMs = 60_000
const tooMany = 429
const unavailable = 503

/** Calls the operations of a gateway's API, by the table that the gateway itself answers by. */
export class ApiClient {
  readonly #address: GatewayAddress
  readonly #signal: AbortSignal

  /** `signal` ends calls that are under way. */
  constructor(address: GatewayAddress, signal: AbortSignal) {
    this.#address = address
    this.#signal = signal
  }

  get url(): string {
    return this.#address.url
  }

  /** @throws TerminalError */
  async call<Name extends Operation>(name: Name, asked: Asked<Name> = {}): Promise<Answer<Name>> {
    const { method, path }: Endpoint = operations[name]
    const url = `${this.#address.url}${apiPrefix}${pathOf(path, asked.params)}${queryOf(asked.query)}`
    const body = asked.body === undefined ? undefined : JSON.stringify(asked.body)
    return (await this.#ask(url, method, body)) as Answer<Name>
  }

  async #ask(url: string, method: string, body?: string): Promise<unknown> {
    for (let leftMs = patienceMs; ;) {
      const sent = { method, ...(body !== undefined && { body }) }
      const { status, text, retryAfterMs } = await this.send(url, sent)
      const answer = this.#parsed(text)
      if (status < 300) return answer
      const { error } = answer as Partial<Refusal>
      if (typeof error !== 'object') throw (await this.#unready()) ?? this.#foreign()
      const { code = '', message = '' } = error
      if (status !== tooMany || code === 'too_many_tries' || retryAfterMs > leftMs) {
        throw refusalOf(status, code, message)
      }
      leftMs -= retryAfterMs
      await pause(retryAfterMs, this.#signal)
    }
  }

  /** One request, and its answer. @throws TerminalError */
  async send(
    url: string,
    { method = 'GET', body, timeoutMs = answerTimeoutMs }: SendOptions = {},
  ): Promise<Answered> {
    const { password, user, trusted } = this.#address
    const headers: Record<string, string> = {
      Accept: 'application/json',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(password !== undefined && { Authorization: authorizationOf(password, user) }),
    }
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(timeoutMs)])
    try {
      return await askOverHttp(new URL(url), {
        method,
        headers,
        signal,
        ...(body !== undefined && { body }),
        ...(trusted && { trusted }),
      })
    } catch (error) {
      if (error instanceof TerminalError) throw error
      const why = reasonOf(signal.aborted ? signal.reason : error, url)
      const next =
        'start one there (crossgear gearmand opens its web port with CROSSGEAR_WEB_PORT), or name another with --url or CROSSGEAR_URL'
      const message = `No gateway answers at ${this.#address.url} (${why}): ${next}.`
      throw new TerminalError('unreachable', message, { cause: error })
    }
  }

  #parsed(text: string): unknown {
    try {
      const value: unknown = JSON.parse(text)
      if (typeof value === 'object' && value !== null) return value
    } catch {
      // The error below says it.
    }
    throw this.#foreign()
  }

  /** A gateway that waits for its store has no API yet, only the pages of health. */
  async #unready(): Promise<TerminalError | undefined> {
    const { status, text } = await this.send(`${this.#address.url}/readyz`)
    const { status: word, reason = '' } = this.#parsed(text) as Readonly<Record<string, unknown>>
    if (status !== unavailable || word !== 'not ready') return undefined
    return new TerminalError(
      'failed',
      `The gateway at ${this.#address.url} is not ready: ${String(reason)}`,
    )
  }

  #foreign(): TerminalError {
    const what = 'is not the web port of a gateway: name it with --url or CROSSGEAR_URL'
    return new TerminalError('unreachable', `${this.#address.url} ${what}.`)
  }
}

function authorizationOf(password: string, user: string | undefined): string {
  if (user === undefined) return `Bearer ${password}`
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

interface SendOptions {
  readonly method?: string
  readonly body?: string
  readonly timeoutMs?: number
}

interface Refusal {
  readonly error: { readonly code?: string; readonly message?: string } | string
}

function pathOf(path: string, params: unknown): string {
  const values = (params ?? {}) as Readonly<Record<string, string>>
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

function queryOf(query: unknown): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries((query ?? {}) as Query)) {
    if (value !== undefined) words.set(name, String(value))
  }
  return words.size === 0 ? '' : `?${words.toString()}`
}

const systemReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'unknown host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS there: it may take http://',
  TimeoutError: 'no answer in time',
}

function reasonOf(error: unknown, url: string): string {
  const code = systemCode(error)
  // A port with TLS closes the connection of a client without it.
  if (code === 'ECONNRESET' && url.startsWith('http:')) {
    return `${systemReasons[code] ?? ''}; with a certificate it takes https://`
  }
  const name = error instanceof Error ? error.name : ''
  return systemReasons[code] ?? systemReasons[name] ?? oneLine(error)
}

/** Waits; ends at once when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}
