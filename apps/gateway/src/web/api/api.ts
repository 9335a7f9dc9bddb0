import { LaneNameError, type LaneNames, StoreError } from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import { storeErrorText, type StoreRejected } from '../../doors/net/store-refusal.ts'
import type { Logger } from '../../config/log/logger.ts'
import { type ApiAnswer, ApiError, refusalAnswer } from './api-error.ts'
import type { Endpoint } from './endpoint.ts'
import { endpoints, type Endpoints, type OperationName } from './endpoints.ts'
import { type HandlerInput, Scope } from './scope.ts'
import { scopeDemands } from './scope-demands.ts'

/** The handler of each operation. */
export type Handlers = {
  readonly [Name in OperationName]: (
    input: HandlerInput<Endpoints[Name]>,
  ) => Promise<Static<Endpoints[Name]['answer']>>
}

/** A request with its forms checked. Plain data, so that another process can answer it. */
export interface ApiInput {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** Globs of the functions and queues that the client may touch. All. */
  readonly queues?: readonly string[]
  /** Name of the person who asks. Nobody with a name. */
  readonly who?: string
}

/** Answers operations of the API. */
export interface ApiBackend {
  call(name: OperationName, input: ApiInput): Promise<ApiAnswer>
}

interface ApiOwner {
  readonly log: Logger
  readonly rejected?: StoreRejected
  /** Hears of each call that may have changed something. */
  readonly onChange: () => void
}

/** Answers them in this process. */
export class Api implements ApiBackend {
  readonly #handlers: Handlers
  readonly #names: LaneNames
  readonly #log: Logger
  readonly #rejected: StoreRejected | undefined
  readonly #onChange: () => void
  /** By the globs of a person, which are a list of the configuration. */
  readonly #scopes = new WeakMap<readonly string[], Scope>()

  constructor(handlers: Handlers, names: LaneNames, { log, rejected, onChange }: ApiOwner) {
    this.#rejected = rejected
    this.#onChange = onChange
    this.#handlers = handlers
    this.#names = names
    this.#log = log
  }

  /** Never rejects: an error is an answer, too. */
  async call(name: OperationName, input: ApiInput): Promise<ApiAnswer> {
    const handler = this.#handlers[name] as (input: unknown) => Promise<unknown>
    const demand = scopeDemands[name] as
      | ((input: unknown, scope: Scope, names: LaneNames) => void)
      | undefined
    const { status = 200, method }: Endpoint = endpoints[name]
    try {
      const { queues, ...asked } = input
      const scope = queues && this.#scopeOf(queues)
      if (scope) demand?.(asked, scope, this.#names)
      return { status, body: await handler({ ...asked, ...(scope && { scope }) }) }
    } catch (error) {
      if (error instanceof ApiError) return refusalAnswer(error.code, error.message)
      if (error instanceof LaneNameError) return refusalAnswer('invalid_request', error.message)
      if (error instanceof StoreError) {
        const text = storeErrorText(error, (cause) => this.#rejected?.('store', undefined, cause))
        return refusalAnswer('store_unavailable', text)
      }
      this.#log.error({ err: error, operation: name }, 'A call of the API failed.')
      return refusalAnswer('internal_error', 'the gateway failed: see its log')
    } finally {
      if (method !== 'GET') this.#onChange()
    }
  }

  #scopeOf(queues: readonly string[]): Scope {
    const scope = this.#scopes.get(queues) ?? new Scope(queues, this.#names)
    this.#scopes.set(queues, scope)
    return scope
  }
}
