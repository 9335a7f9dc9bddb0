import { OK } from '@crossgear/fwp-codec'
import type { Handler } from './handler.ts'

/** `END`: `+OK` after the replies to what was asked before, then the connection ends. */
export const end: Handler = (session) => {
  session.send(OK)
  session.end()
}
