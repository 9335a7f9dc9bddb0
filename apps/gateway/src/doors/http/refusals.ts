import type { ServerResponse } from 'node:http'
import { sendAnswer, type Stall } from './send-answer.ts'

/** Answers to requests without a job, or whose job has no outcome to show. */
export const refusals = {
  NO_FUNCTION: { status: 404, text: 'Name a function: POST /function' },
  METHOD: { status: 405, text: 'Use GET, HEAD, PUT or POST' },
  BAD_PATH: { status: 400, text: 'The path is not percent-encoded UTF-8' },
  BAD_NAME: { status: 400, text: 'A function name is 1 to 512 bytes of UTF-8 without NUL' },
  FOREIGN_HOST: {
    status: 421,
    text: 'The header Host names another server: allow the name with --allowed-hosts',
  },
  CROSS_SITE: { status: 403, text: 'A web page of another origin may submit no job here' },
  TWO_HOSTS: { status: 400, text: 'There is more than one header Host' },
  UNIQUE_TOO_LARGE: { status: 400, text: 'X-Gearman-Unique is over 64 bytes' },
  BODY_TOO_LARGE: { status: 413, text: 'The body is larger than a job may be' },
  OUTCOME_TOO_LARGE: { status: 502, text: 'The outcome is larger than an answer may be' },
  BUSY: { status: 503, text: 'Too many bytes are in progress, try again' },
  NEW_FUNCTION_LIMIT: { status: 429, text: 'No more new functions from your address' },
  QUEUE_FULL: { status: 503, text: 'The queue of the function is full' },
  NO_WORKERS: { status: 503, text: 'No worker is there for the function' },
  /** The reason of the store takes the place of this text. */
  STORE: { status: 503, text: 'The store does not take the job' },
  STOPPING: { status: 503, text: 'The gateway stops' },
} as const

export type Refusal = keyof typeof refusals

const retryAfterSeconds = 1

/** Answers with the refusal's status and its text, or the reason at hand, as one line. */
export function refuse(
  response: ServerResponse,
  refusal: Refusal,
  stall: Stall,
  reason?: string,
): void {
  const { status, text: usual } = refusals[refusal]
  const text = reason ?? usual
  const body = `${text}\n`
  const headers = {
    ...(status === 405 ? { Allow: 'GET, HEAD, PUT, POST' } : {}),
    ...(status === 503 ? { 'Retry-After': retryAfterSeconds } : {}),
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  }
  sendAnswer(response, { status, headers, body }, stall)
}
