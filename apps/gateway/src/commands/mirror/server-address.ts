import { MigrationError, type ServerTarget } from '@crossgear/migration'

/** Host and port of a server. */
export interface ServerAddress {
  readonly protocol: Protocol
  readonly host: string
  readonly port: number
  /** Name for messages. */
  readonly name: string
}

/** The name of a server for messages. */
export function nameOf(server: ServerAddress | ServerTarget): string {
  return 'identity' in server ? server.identity : server.name
}

/** Protocols of servers that clients are passed on to, and their ports. */
const usualPorts = { gearman: 4730, faktory: 7419 } as const
export type Protocol = keyof typeof usualPorts

/** Reads `gearman://host:port` or `faktory://host:port`. Throws a MigrationError. */
export function serverAddressOf(
  option: string,
  address: string,
  protocol: Protocol,
): ServerAddress {
  try {
    const url = new URL(address)
    if (url.protocol !== `${protocol}:` || url.search !== '' || url.pathname.length > 1) {
      throw new Error('it is another kind of address')
    }
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1'
    const port = url.port === '' ? usualPorts[protocol] : Number(url.port)
    return { protocol, host, port, name: `${protocol}://${url.hostname || host}:${port}` }
  } catch (error) {
    throw new MigrationError('USAGE', `${option} is ${address}: give ${protocol}://host:port.`, {
      cause: error,
    })
  }
}
