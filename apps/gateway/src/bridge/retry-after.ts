/** Longest wait that a worker can ask for, seconds. */
export const maxRetryAfterSeconds = 86_400

/** `retry-after: N` at the beginning of a worker's message: seconds, at most a day. Undefined without it. */
export function retryAfterSeconds(message: string): number | undefined {
  const [, digits] = /^retry-after:[ \t]*(\d{1,9})(?!\d)/i.exec(message) ?? []
  return digits === undefined ? undefined : Math.min(Number(digits), maxRetryAfterSeconds)
}
