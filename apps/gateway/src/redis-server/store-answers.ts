import { locateServer } from './locate-server.ts'
import { RespConnection } from './resp-connection.ts'
import type { StoreAddress } from './store-address.ts'

const TIMEOUT_MS = 2000

/** Whether some server of the store answers now. */
export async function storeAnswers(address: StoreAddress): Promise<boolean> {
  try {
    const server = await locateServer(address, TIMEOUT_MS)
    const connection = await RespConnection.open(server, TIMEOUT_MS)
    try {
      await connection.command('PING')
      return true
    } finally {
      connection.end()
    }
  } catch {
    return false
  }
}
