import { bulk } from '@crossgear/fwp-codec'
import { answerLater } from '../answer-later.ts'
import type { Handler } from './handler.ts'

/** `INFO`: a bulk string, the JSON of the server's figures. */
export const info: Handler = (session) => {
  answerLater(session, async () => bulk(await session.context.info.json()))
}
