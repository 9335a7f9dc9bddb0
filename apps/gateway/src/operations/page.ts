import type { IncomingHttpHeaders } from 'node:http'
import { maxJsonDepth } from '@crossgear/fwp-codec'
import { parseJson } from '../json.ts'

/** The prefix of all paths of the API. */
export const apiPrefix = '/api/v1'

/** An answer of the web port. */
export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
  /** Further headers. None. */
  readonly headers?: Readonly<Record<string, string>>
}

export function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(body)}\n` }
}

/** The part of a request that pages use: node's own has all of it, but where it comes from is not for pages to judge. */
export interface PageRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** The body. */
  [Symbol.asyncIterator](): AsyncIterator<unknown>
}

/** A page that answers every method itself. */
export type Page = (request: PageRequest) => Promise<Answer>

/** A longer body is refused. */
export const maxBodyBytes = 65_536

/** A request whose body cannot be read; the message is for who sent it. */
export class BodyError extends Error {}

/** The JSON of a body. Throws a BodyError. */
export async function readJson(request: PageRequest): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new BodyError(`the body is over ${maxBodyBytes} bytes`)
    chunks.push(chunk)
  }
  try {
    return parseJson(Buffer.concat(chunks).toString())
  } catch (error) {
    throw new BodyError(`the body is not JSON, or nests deeper than ${maxJsonDepth}`, {
      cause: error,
    })
  }
}
