import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** Stands for every address of the machine, of both families. */
export const anyHost = '*'

/** What one server of a port binds to. */
export interface BindAddress {
  readonly host: string
  readonly ipv6Only: boolean
}

/**
 * Where to listen for a host as the operator wrote it: a name may stand for addresses of both
 * families, as `localhost` does, and clients use either. Throws what the resolver does.
 */
export async function bindAddresses(host: string): Promise<readonly BindAddress[]> {
  if (host === anyHost) return [bind('0.0.0.0', 4), bind('::', 6)]
  if (isIP(host) !== 0) return [{ host, ipv6Only: false }]
  const found = await lookup(host, { all: true })
  const addresses = new Map(found.map(({ address, family }) => [address, bind(address, family)]))
  return [...addresses.values()]
}

function bind(host: string, family: number): BindAddress {
  return { host, ipv6Only: family === 6 }
}

/** Whether an address is this machine's own and reachable from nowhere else. */
export function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\./i.test(address) || address === '::1'
}
