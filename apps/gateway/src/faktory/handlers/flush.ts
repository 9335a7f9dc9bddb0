import { error, OK } from '@crossgear/fwp-codec'
import { answerLater } from '../answer-later.ts'
import type { Handler } from './handler.ts'

/** `FLUSH`: `+OK` when all jobs of the broker are gone. Only from where the operator allows it. */
export const flush: Handler = (session) => {
  const { scheduler, mayFlush } = session.context
  if (!mayFlush(session.address)) {
    session.send(error('FLUSH is not allowed from this address'))
    return
  }
  answerLater(session, async () => {
    await scheduler.queues.flush()
    return OK
  })
}
