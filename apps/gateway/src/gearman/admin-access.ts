import { BlockList, isIP } from 'node:net'

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

  #allow(network: string): void {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network) ?? []
    const version = isIP(address)
    if (version === 0) throw new TypeError(`${network} is no address and no network`)
    const type = version === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) this.#allowed.addAddress(address, type)
    else this.#allowed.addSubnet(address, Number(bits), type)
  }
}
