import { error } from '@crossgear/fwp-codec'
import type { Handler } from './handler.ts'

/** `HELLO` again: a client says who it is once. */
export const hello: Handler = (session) => {
  session.send(error('unknown command HELLO'))
}
