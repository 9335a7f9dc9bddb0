import { oneLine, StartError, systemCode } from '../lifecycle/start-error.ts'
import type { Logger } from '../log/logger.ts'
import { nameServer, waitUntilLoaded } from './readiness.ts'
import { RespConnection, StoreTimeout } from './resp-connection.ts'
import { RespError, RespProtocolError } from './resp-reply.ts'
import { printStoreAddress, type StoreAddress } from './store-address.ts'

const TIMEOUT_MS = 5000

/**
 * Makes sure that a Redis answers at the address and takes the login. Returns what the server calls
 * itself.
 */
export async function checkGivenStore(address: StoreAddress, log: Logger): Promise<string> {
  let connection: RespConnection | undefined
  try {
    connection = await RespConnection.open(address, TIMEOUT_MS)
    await waitUntilLoaded(connection, log)
    return await nameServer(connection)
  } catch (error) {
    throw new StartError(explain(error, printStoreAddress(address)), 1, { cause: error })
  } finally {
    connection?.end()
  }
}

const LOGIN_ERRORS = /^(NOAUTH|WRONGPASS|NOPERM)\b|invalid password|without any password/

function explain(error: unknown, url: string): string {
  if (error instanceof RespError) {
    const said = `The store at ${url} answers "${error.message}"`
    if (LOGIN_ERRORS.test(error.message)) {
      return `${said}: put the right user and password into --redis-url.`
    }
    return `${said}: correct --redis-url.`
  }
  if (error instanceof RespProtocolError) {
    return `No Redis speaks at ${url} (${error.message}): correct --redis-url.`
  }
  const reason = error instanceof StoreTimeout ? error.message : systemCode(error) || oneLine(error)
  return `The store at ${url} cannot be reached (${reason}): start it or correct --redis-url.`
}
