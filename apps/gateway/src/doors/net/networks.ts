import { BlockList, isIP } from 'node:net'

/** A range of addresses: one of them, and the number of shared leading bits. */
export interface Network {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly bits: number
}

/** Parses `10.0.0.0/8` or `::1`; undefined for anything else. */
export function readNetwork(text: string): Network | undefined {
  const [, address = '', given] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  const maxBits = version === 6 ? 128 : 32
  const bits = given === undefined ? maxBits : Number(given)
  if (version === 0 || bits > maxBits) return undefined
  return { address, family: version === 6 ? 'ipv6' : 'ipv4', bits }
}

/** Parses a list with commas; undefined if one of them is invalid. */
export function readNetworks(list: string): readonly string[] | undefined {
  const texts = list.split(',').map((text) => text.trim())
  return texts.every((text) => readNetwork(text)) ? texts : undefined
}

/** Some addresses and networks. */
export class NetworkList {
  readonly #allowed = new BlockList()

  /** `from`: addresses and networks such as `10.0.0.0/8`. Throws for anything else. */
  constructor(from: readonly string[]) {
    for (const network of from) this.#allow(network)
  }

  allows(address: string): boolean {
    const version = isIP(address)
    return version !== 0 && this.#allowed.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }

  #allow(text: string): void {
    const network = readNetwork(text)
    if (!network) throw new TypeError(`${text} is neither an address nor a network`)
    this.#allowed.addSubnet(network.address, network.bits, network.family)
  }
}

/** Addresses whose commands may change something: loopback, and those that the operator lists. */
export class AdminAccess extends NetworkList {
  constructor(from: readonly string[] = []) {
    super(['127.0.0.0/8', '::1', ...from])
  }
}
