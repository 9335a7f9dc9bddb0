import { BlockList, isIP } from 'node:net'
import { readNetwork } from '../net/networks.ts'

/** Who may send commands that change something: this machine, and what the operator lists. */
export class AdminAccess {
  readonly #allowed = new BlockList()

  /** `from`: addresses and networks such as `10.0.0.0/8`. Throws for anything else. */
  constructor(from: readonly string[] = []) {
    for (const network of ['127.0.0.0/8', '::1', ...from]) this.#allow(network)
  }

  allows(address: string): boolean {
    const version = isIP(address)
    return version !== 0 && this.#allowed.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }

  #allow(text: string): void {
    const network = readNetwork(text)
    if (!network) throw new TypeError(`${text} is no address and no network`)
    this.#allowed.addSubnet(network.address, network.bits, network.family)
  }
}
