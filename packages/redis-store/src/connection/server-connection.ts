import type { Redis } from 'ioredis'
import { commandConnection, connect } from './connection.ts'
import { storeErrorOf } from './errors.ts'
import type { ServerAddress } from '@crossgear/gearmonkey-redis/address'

/** A connection to a server with another system's data. */
export type ServerConnection = Redis

/** Connects. Throws a StoreError if the server cannot be reached. */
export async function openServer(address: ServerAddress, name: string): Promise<ServerConnection> {
  const connection = commandConnection(address, name)
  // The error that ended the connection says more than the call that met its end: a wrong password, for one.
  let cause: unknown
  connection.on('error', (error: unknown) => (cause = error))
  try {
    await connect(connection)
    await connection.ping()
  } catch (error) {
    connection.disconnect()
    throw storeErrorOf(cause ?? error)
  }
  return connection as Redis
}
