import { lookup } from 'node:dns/promises'
import { isIP, isIPv6 } from 'node:net'

export const loopback = '127.0.0.1'

/** Stands for every address of the machine, of both families. */
export const anyHost = '*'

/** The address that one server of a port binds to. */
interface BindAddress {
  readonly host: string
  readonly ipv6Only: boolean
}

/**
 * Addresses to listen on for a host: a name like `localhost` may have addresses of both families,
 * and clients use either. Throws the resolver's errors.
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

/** True for a loopback address. */
export function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\./i.test(address) || address === '::1'
}

/** One machine has all addresses of such a network: it counts as one. */
const ipv6NetworkGroups = 4

/** The name under which a peer is counted: its IPv4 address, or its IPv6 /64 network. */
export function countedAddress(address: string): string {
  const ipv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (ipv4 !== undefined) return ipv4
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  // `::` stands for zeros.
  const zeros = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length
  return [...groups, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, ipv6NetworkGroups)
    .join(':')
}

/** Connections by peer address. */
export class AddressCounts {
  readonly #counts = new Map<string, number>()

  of(address: string): number {
    return this.#counts.get(address) ?? 0
  }

  add(address: string): void {
    this.#counts.set(address, this.of(address) + 1)
  }

  remove(address: string): void {
    const left = this.of(address) - 1
    if (left > 0) this.#counts.set(address, left)
    else this.#counts.delete(address)
  }
}

/** A host in front of a port. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
