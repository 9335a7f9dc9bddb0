import { MigrationError } from '@crossgear/migration'

/** Host and port of a server. */
export interface Place {
  readonly host: string
  readonly port: number
  /** Name for messages. */
  readonly name: string
}

const usualPort = 4730

/** Parses `gearman://host:port`. Throws a MigrationError. */
export function placeOf(option: string, address: string): Place {
  try {
    const url = new URL(address)
    if (url.protocol !== 'gearman:' || url.search !== '' || url.pathname.length > 1) {
      throw new Error('it is another kind of address')
    }
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1'
    const port = url.port === '' ? usualPort : Number(url.port)
    return { host, port, name: `gearman://${url.hostname || host}:${port}` }
  } catch (error) {
    throw new MigrationError('USAGE', `${option} is ${address}: give gearman://host:port.`, {
      cause: error,
    })
  }
}
