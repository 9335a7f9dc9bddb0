import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type ApiAnswer, ApiError } from '../api-error.ts'
import type { ApiBackend } from '../api.ts'
import type { WebLimit } from '../../../operations/web-limits.ts'
import type { CallLimiter } from '../limits/call-limiter.ts'
import { unitsOf } from '../limits/call-cost.ts'
import { columnsOf, csvHead, csvRow } from './csv.ts'
import { type ExportFormat, exportFormats, exportLists, type ExportName } from './export-lists.ts'

export const exportBounds = {
  /** Rows of a file. */
  rows: 1_000_000,
  /** Rows that are in memory at a time. */
  rowsPerPage: 500,
  /** Files at a time. */
  atOnce: 4,
  /** A reader that takes nothing for so long is dropped, milliseconds. */
  stalledMs: 60_000,
} as const

interface Page {
  readonly cursor: string | null
  readonly [rows: string]: unknown
}

/** A list, and what its reader may see of it. */
interface ExportedList {
  readonly name: ExportName
  /** Globs of functions and queues. All. */
  readonly queues: readonly string[] | undefined
}

interface ExportParts {
  readonly backend: ApiBackend
  /** Pages take their turn with all other heavy calls. */
  readonly limiter: CallLimiter
  readonly limited?: (limit: WebLimit) => void
  readonly maxRows?: number
  readonly stalledMs?: number
}

/** Sends lists as files, page by page. */
export class Exports {
  readonly #parts: ExportParts
  #running = 0

  constructor(parts: ExportParts) {
    this.#parts = parts
  }

  /**
   * Begins a file. An answer is a refusal; without one `send` writes the file to its end, or breaks the response off, so that
   * no reader takes a part for the whole.
   */
  async begin(
    name: ExportName,
    given: Readonly<Record<string, unknown>>,
    queues?: readonly string[],
  ): Promise<ApiAnswer | { readonly send: (response: ServerResponse) => Promise<void> }> {
    if (this.#running >= exportBounds.atOnce) {
      const why = `${exportBounds.atOnce} exports are under way: wait for one to end`
      throw new ApiError('too_many_requests', why, {
        retryAfterSeconds: 5,
        limit: 'too_many_calls',
      })
    }
    this.#running += 1
    try {
      const { format = 'ndjson', ...filter } = given
      const list = { name, queues }
      const first = await this.#page(list, filter, false)
      if (first.status === 200) {
        return {
          send: (response) => this.#send(list, format as ExportFormat, filter, first, response),
        }
      }
      this.#running -= 1
      return first
    } catch (error) {
      this.#running -= 1
      throw error
    }
  }

  async #send(
    list: ExportedList,
    format: ExportFormat,
    filter: object,
    first: ApiAnswer,
    response: ServerResponse,
  ): Promise<void> {
    const { rows } = exportLists[list.name]
    response.on('error', () => response.destroy())
    response.writeHead(200, {
      'Content-Type': exportFormats[format],
      'Content-Disposition': `attachment; filename="crossgear-${rows}.${format}"`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Accel-Buffering': 'no',
    })
    try {
      for await (const text of this.#texts(list, format, filter, first)) {
        if (response.destroyed) return
        if (!response.write(text)) await this.#drained(response)
      }
      response.end()
    } catch {
      response.destroy()
    } finally {
      this.#running -= 1
    }
  }

  async *#texts(
    list: ExportedList,
    format: ExportFormat,
    filter: object,
    first: ApiAnswer,
  ): AsyncGenerator<string> {
    const { maxRows = exportBounds.rows } = this.#parts
    const { rows, row } = exportLists[list.name]
    const columns = columnsOf(row)
    const lineOf = {
      csv: (each: object) => csvRow(columns, each),
      ndjson: (each: object) => `${JSON.stringify(each)}\n`,
    }[format]
    if (format === 'csv') yield csvHead(columns)
    let page = first.body as Page
    for (let left = maxRows; ;) {
      const some = (page[rows] as readonly object[]).slice(0, left)
      left -= some.length
      yield some.map(lineOf).join('')
      if (page.cursor === null) return
      if (left === 0) {
        const note = `cut after ${maxRows} rows`
        yield format === 'csv' ? `${note}\r\n` : `${JSON.stringify({ note })}\n`
        return
      }
      const next = await this.#page(list, { ...filter, cursor: page.cursor }, true)
      if (next.status !== 200) throw new Error('a page was refused')
      page = next.body as Page
    }
  }

  /** One page. A call that is one too many waits where it is patient. */
  async #page(
    { name, queues }: ExportedList,
    filter: object,
    isPatient: boolean,
  ): Promise<ApiAnswer> {
    const { backend, limiter } = this.#parts
    const query = { ...filter, limit: exportBounds.rowsPerPage }
    const input = { params: {}, query, body: undefined, ...(queues && { queues }) }
    for (;;) {
      try {
        return await limiter.run(async (onCost) => {
          const answer = await backend.call(exportLists[name].operation, input)
          onCost(unitsOf(input, answer.body, 0))
          return answer
        })
      } catch (error) {
        const waitSeconds = error instanceof ApiError ? error.retryAfterSeconds : undefined
        if (!isPatient || waitSeconds === undefined) throw error
        await delay(waitSeconds * 1000)
      }
    }
  }
  /** Settles when the reader has taken what was written; rejects when it is gone, or takes nothing. */
  async #drained(response: ServerResponse): Promise<void> {
    const { limited, stalledMs = exportBounds.stalledMs } = this.#parts
    const over = new AbortController()
    const timer = setTimeout(() => {
      limited?.('slow')
      response.destroy()
    }, stalledMs)
    const closed = (): void => over.abort()
    response.once('close', closed)
    try {
      await once(response, 'drain', { signal: over.signal })
    } finally {
      clearTimeout(timer)
      response.off('close', closed)
    }
  }
}
