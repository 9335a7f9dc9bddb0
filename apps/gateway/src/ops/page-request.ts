import type { IncomingHttpHeaders } from 'node:http'
import type { Answer } from './answer.ts'

/** What a page may know of a request: node's own has all of it. */
export interface PageRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** Who asks. */
  readonly socket: { readonly remoteAddress?: string | undefined }
  /** The body. */
  [Symbol.asyncIterator](): AsyncIterator<unknown>
}

/** A page that answers every method itself. */
export type Page = (request: PageRequest) => Promise<Answer>
