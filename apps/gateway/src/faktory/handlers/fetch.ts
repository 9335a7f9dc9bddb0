import { Fetch } from '../fetch.ts'
import type { Handler } from './handler.ts'

/**
 * `FETCH [queue ...]`: a bulk string, the job; the null bulk string where none comes in time. The
 * queues are looked at strictly in this order; without one it is `default`.
 */
export const fetch: Handler = (session, argument) => {
  const { queues, subscription } = session.context.subscriptions.of(argument, session.functions)
  session.worker.count(queues)
  new Fetch(session, subscription).start()
}
