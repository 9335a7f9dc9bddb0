import { isIPv6 } from 'node:net'

/** One machine commands the addresses of such a network: it counts as one. */
const IPV6_NETWORK_GROUPS = 4

/** The name under which a peer is counted: its IPv4 address, or its IPv6 network of 64 bits. */
export function countedAddress(address: string): string {
  const ipv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (ipv4 !== undefined) return ipv4
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  // `::` stands for zeros.
  const zeros = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length
  return [...groups, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, IPV6_NETWORK_GROUPS)
    .join(':')
}

/** Connections by the address of their peer. */
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

  clear(): void {
    this.#counts.clear()
  }
}
