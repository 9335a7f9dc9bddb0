import type { ServerResponse } from 'node:http'
import type { WebLimit } from '../../operations/web-limits.ts'
import type { ApiBackend } from './api.ts'
import { ApiError } from './api-error.ts'

export const streamBounds = {
  /** Viewers at a time. */
  viewers: 100,
  /** Bytes waiting for a viewer that does not read, before it is dropped. */
  unsentBytes: 256 * 1024,
  /** Interval of updates, milliseconds. */
  everyMs: 1_000,
} as const

/** Delay before a viewer whose stream ended asks again, milliseconds. */
const askAgainMs = 3_000

/** Globs of a person; undefined: everything. */
type Queues = readonly string[] | undefined

/**
 * Sends all viewers the state of the store once a second: one look for all of them, and one text for all who see the same.
 * Without viewers the store is not read.
 */
export class EventStream {
  readonly #backend: ApiBackend
  readonly #limited: (limit: WebLimit) => void
  readonly #everyMs: number
  readonly #viewers = new Map<ServerResponse, Queues>()
  #timer: NodeJS.Timeout | undefined

  constructor(
    backend: ApiBackend,
    limited: (limit: WebLimit) => void = () => undefined,
    everyMs: number = streamBounds.everyMs,
  ) {
    this.#backend = backend
    this.#limited = limited
    this.#everyMs = everyMs
  }

  /** Throws an ApiError where there are too many viewers. */
  checkRoom(): void {
    if (this.#viewers.size >= streamBounds.viewers) {
      const why = `${streamBounds.viewers} viewers are there already`
      throw new ApiError('too_many_requests', why, {
        retryAfterSeconds: 1,
        limit: 'too_many_viewers',
      })
    }
  }

  /** Adds a viewer, who sees what these globs take; the stream owns its response from now on. */
  add(response: ServerResponse, queues?: Queues): void {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    })
    response.write(`retry: ${askAgainMs}\n\n`)
    response.on('error', () => response.destroy())
    response.on('close', () => this.#remove(response))
    this.#viewers.set(response, queues)
    if (!this.#timer) {
      this.#broadcast()
      this.#timer = setInterval(() => this.#broadcast(), this.#everyMs)
    }
  }

  close(): void {
    for (const viewer of this.#viewers.keys()) {
      viewer.end()
      this.#remove(viewer)
    }
  }

  #broadcast(): void {
    for (const queues of new Set(this.#viewers.values())) void this.#tell(queues)
  }

  /** Tells those who see what these globs take. */
  async #tell(queues: Queues): Promise<void> {
    const { status, body } = await this.#backend.call('getOverview', {
      params: {},
      query: {},
      body: undefined,
      ...(queues && { queues }),
    })
    const event = status === 200 ? 'overview' : 'refusal'
    // Encoded once: each viewer is sent the same bytes.
    const bytes = Buffer.from(`event: ${event}\ndata: ${JSON.stringify(body)}\n\n`)
    for (const [viewer, theirs] of this.#viewers) {
      if (theirs !== queues) continue
      if (viewer.writableLength <= streamBounds.unsentBytes) viewer.write(bytes)
      else {
        this.#limited('slow')
        viewer.destroy()
      }
    }
  }

  #remove(viewer: ServerResponse): void {
    this.#viewers.delete(viewer)
    if (this.#viewers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
