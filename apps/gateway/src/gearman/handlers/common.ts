import { MAX_CLIENT_ID_BYTES } from '@crossgear/gearman-codec'
import { argument, type PacketHandler } from './packet-handler.ts'

/** `ECHO_REQ` data -> `ECHO_RES` data. */
export const echo: PacketHandler = (session, args) => session.send('ECHO_RES', argument(args, 0))

/** `SET_CLIENT_ID` id. */
export const setClientId: PacketHandler = (session, args) => {
  session.clientId = argument(args, 0).toString('utf8', 0, MAX_CLIENT_ID_BYTES)
}

/** `OPTION_REQ` option, in any case -> `OPTION_RES` option, as it was spelt. */
export const option: PacketHandler = (session, args) => {
  const name = argument(args, 0)
  if (name.toString('latin1').toLowerCase() !== 'exceptions') {
    session.sendError('UNKNOWN_OPTION')
    return
  }
  session.client.exceptions = true
  session.send('OPTION_RES', name)
}

/** Any packet that is not for a server. */
export const notExpected: PacketHandler = (session) => session.sendError('COMMAND_NOT_EXPECTED')
