import type { WebLimit } from '../../operations/web-limits.ts'

/** Every reason for which the API refuses: its code, which stays the same, and the HTTP status. */
export const apiErrors = {
  invalid_request: 400,
  invalid_json: 400,
  invalid_cursor: 400,
  unauthorized: 401,
  wrong_password: 401,
  password_unset: 401,
  no_password: 403,
  operator_needed: 403,
  admin_needed: 403,
  not_yours: 403,
  cross_site: 403,
  not_found: 404,
  unknown_job: 404,
  unknown_function: 404,
  unknown_queue: 404,
  unknown_batch: 404,
  unknown_worker: 404,
  in_use: 409,
  not_accepted: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  foreign_host: 421,
  invalid_settings: 422,
  too_many_requests: 429,
  too_many_tries: 429,
  internal_error: 500,
  store_unavailable: 503,
  not_running: 503,
} as const satisfies Readonly<Record<string, number>>

export type ApiErrorCode = keyof typeof apiErrors

/** A refusal, with a message for the caller. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ApiErrorCode
  /** Absent where waiting does not help. */
  readonly retryAfterSeconds: number | undefined
  /** The exceeded limit that the log and the metrics name. */
  readonly limit: WebLimit | undefined

  constructor(code: ApiErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds
    this.limit = options.limit
  }
}

interface ApiErrorOptions extends ErrorOptions {
  readonly retryAfterSeconds?: number
  readonly limit?: WebLimit
}

/** An answer of the API, plain, so that another process can give it. */
export interface ApiAnswer {
  readonly status: number
  readonly body: unknown
}

export function refusalAnswer(code: ApiErrorCode, message: string): ApiAnswer {
  return { status: apiErrors[code], body: { error: { code, message } } }
}
