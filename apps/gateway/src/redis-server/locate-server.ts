import { RespConnection } from './resp-connection.ts'
import { RespProtocolError } from './resp-reply.ts'
import type { SentinelStoreAddress, ServerStoreAddress, StoreAddress } from './store-address.ts'

/**
 * A server of the store: itself, the master that the first Sentinel to answer names, or the first of a
 * cluster to answer.
 *
 * @throws as RespConnection.open
 */
export async function locateServer(
  address: StoreAddress,
  timeoutMs: number,
): Promise<ServerStoreAddress> {
  if ('sentinels' in address) {
    return firstThat(address.sentinels, (host) => askSentinel(address, host, timeoutMs))
  }
  if (!('nodes' in address)) return address
  const { nodes, ...login } = address
  return firstThat(nodes, async (host) => {
    const server = { ...login, ...host, db: 0 }
    const connection = await RespConnection.open(server, timeoutMs)
    connection.end()
    return server
  })
}

interface Host {
  readonly host: string
  readonly port: number
}

async function askSentinel(
  { name, tls, username, password, db, ...address }: SentinelStoreAddress,
  host: Host,
  timeoutMs: number,
): Promise<ServerStoreAddress> {
  const login = {
    ...(address.sentinelUsername === undefined ? {} : { username: address.sentinelUsername }),
    ...(address.sentinelPassword === undefined ? {} : { password: address.sentinelPassword }),
  }
  const sentinel = await RespConnection.open({ ...host, tls, db: 0, ...login }, timeoutMs)
  try {
    const answer = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)
    if (!Array.isArray(answer)) throw new RespProtocolError(`the Sentinels know no master ${name}`)
    const [masterHost, port] = answer.map(String)
    return {
      ...{ host: masterHost ?? '', port: Number(port), tls, db },
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
    }
  } finally {
    sentinel.end()
  }
}

/** What the first host gives that does not fail; the last one's error where all do. */
async function firstThat<Found>(
  hosts: readonly Host[],
  ask: (host: Host) => Promise<Found>,
): Promise<Found> {
  let failure: unknown
  for (const host of hosts) {
    try {
      return await ask(host)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}
