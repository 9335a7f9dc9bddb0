import { StoreError } from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import { oneLine } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import { type ApiAnswer, ApiError, refusalAnswer } from './api-error.ts'
import type { Endpoint, Input } from './endpoint.ts'
import { endpoints, type Endpoints, type OperationName } from './endpoints.ts'

/** The handler of each operation. */
export type Handlers = {
  readonly [Name in OperationName]: (
    input: Input<Endpoints[Name]>,
  ) => Promise<Static<Endpoints[Name]['answer']>>
}

/** A request with its forms checked. Plain data, so that another process can answer it. */
export interface ApiInput {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/** Answers operations of the API. */
export interface ApiBackend {
  call(name: OperationName, input: ApiInput): Promise<ApiAnswer>
}

/** Answers them in this process. */
export class Api implements ApiBackend {
  readonly #handlers: Handlers
  readonly #log: Logger

  constructor(handlers: Handlers, log: Logger) {
    this.#handlers = handlers
    this.#log = log
  }

  /** Never rejects: an error is an answer, too. */
  async call(name: OperationName, input: ApiInput): Promise<ApiAnswer> {
    const handler = this.#handlers[name] as (input: ApiInput) => Promise<unknown>
    const { status = 200 }: Endpoint = endpoints[name]
    try {
      return { status, body: await handler(input) }
    } catch (error) {
      if (error instanceof ApiError) return refusalAnswer(error.code, error.message)
      if (error instanceof StoreError) {
        return refusalAnswer('store_unavailable', `the store: ${oneLine(error)}`)
      }
      this.#log.error({ err: error, operation: name }, 'A call of the API failed.')
      return refusalAnswer('internal_error', 'the gateway failed: see its log')
    }
  }
}
