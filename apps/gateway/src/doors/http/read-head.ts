import type { IncomingMessage } from 'node:http'
import { bandLevel, type Level } from '@crossgear/core-scheduler'
import { maxUniqueBytes } from '@crossgear/gearman-codec'
import type { FunctionName, FunctionNames } from '../gearman/function-names.ts'
import { isCrossSite, namesUs } from '../net/foreign-requests.ts'
import type { Refusal } from './refusals.ts'

/** Fields of a job in the head of a request. */
export interface RequestHead {
  readonly name: FunctionName
  readonly unique: Buffer
  readonly background: boolean
  /** GET and HEAD submit a job without a workload, whatever their body. */
  readonly hasWorkload: boolean
  readonly level: Level
}

const methods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'PUT', 'POST'])
const withWorkload: ReadonlySet<string | undefined> = new Set(['PUT', 'POST'])
/** Unique id for coalescing by payload: gearmand's default for a request without one. */
const byPayload = '-'
/** The request line may name the server, as for a proxy. */
const origin = /^https?:\/\/[^/?]*/i

/**
 * `POST /function HTTP/1.1` with `X-Gearman-Unique: text` (absent: jobs with one payload join), `X-Gearman-Background: true`,
 * `X-Gearman-Priority: high|low`. `hosts`: names allowed in Host, besides addresses and localhost.
 */
export function readHead(
  request: IncomingMessage,
  names: FunctionNames,
  hosts: readonly string[],
): RequestHead | Refusal {
  const { headers, headersDistinct } = request
  if ((headersDistinct['host']?.length ?? 0) > 1) return 'TWO_HOSTS'
  if (!namesUs(headers.host, hosts)) return 'FOREIGN_HOST'
  if (isCrossSite(headers)) return 'CROSS_SITE'
  if (!methods.has(request.method)) return 'METHOD'
  const bytes = functionOf(request.url ?? '')
  if (!bytes) return 'BAD_PATH'
  if (bytes.length === 0) return 'NO_FUNCTION'
  if (bytes.includes(0)) return 'BAD_NAME'
  const name = names.read(bytes)
  if (typeof name === 'string') return 'BAD_NAME'
  const unique = Buffer.from(header(request, 'x-gearman-unique') || byPayload, 'latin1')
  if (unique.length > maxUniqueBytes) return 'UNIQUE_TOO_LARGE'
  return {
    name,
    unique,
    hasWorkload: withWorkload.has(request.method),
    background: header(request, 'x-gearman-background').toLowerCase() === 'true',
    level: levelOf(header(request, 'x-gearman-priority').toLowerCase()),
  }
}

function functionOf(url: string): Buffer | undefined {
  const path = url.replace(origin, '').split('?', 1)[0] ?? ''
  try {
    return Buffer.from(decodeURIComponent(path.replace(/^\/+/, '')))
  } catch {
    return undefined
  }
}

function levelOf(priority: string): Level {
  return priority === 'high' || priority === 'low' ? bandLevel[priority] : bandLevel.normal
}

/** Node gives each byte of a header as one character. */
function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}
