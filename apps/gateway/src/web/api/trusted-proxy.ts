import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isOperatorName, operatorRoles, readRole } from '../../config/operators.ts'
import { NetworkList } from '../../doors/net/networks.ts'
import { ApiError } from './api-error.ts'
import type { Person } from './people.ts'
import { roleOf } from './roles.ts'

/** A proxy in front of the web port that knows who sends a request. */
export interface ProxyOptions {
  /** Headers in which it names people. None: it names nobody. */
  readonly names?: { readonly userHeader: string; readonly roleHeader: string }
  /** The addresses and networks of the proxy: the headers count from nowhere else. */
  readonly from: readonly string[]
}

/** Letters of X-Forwarded-For that are read, from its end. */
const longestForwarded = 1_024

/** Names people, and addresses, by the headers of a proxy. */
export class TrustedProxy {
  readonly #names: { readonly user: string; readonly role: string } | undefined
  readonly #from: NetworkList

  constructor({ names, from }: ProxyOptions) {
    this.#names = names && {
      user: names.userHeader.toLowerCase(),
      role: names.roleHeader.toLowerCase(),
    }
    this.#from = new NetworkList(from)
  }

  get namesPeople(): boolean {
    return this.#names !== undefined
  }

  /** The address from which the proxy, or the first of several, got a request; undefined where it does not say so. */
  clientOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string | undefined {
    if (!this.#from.allows(socket.remoteAddress ?? '')) return undefined
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').slice(-longestForwarded)
    const hops = forwarded.split(',').map((hop) => hop.trim())
    // Each proxy adds the address that it sees: those before the last stranger are that one's words.
    const client = hops.reverse().find((hop) => !this.#from.allows(hop))
    return client !== undefined && isIP(client) !== 0 ? client : undefined
  }

  /** Undefined for a request in which the proxy names nobody. Throws an ApiError for names and roles that are none. */
  personOf({
    headersDistinct,
    socket,
  }: Pick<IncomingMessage, 'headersDistinct' | 'socket'>): Person | undefined {
    if (!this.#names) return undefined
    const { user, role: roleHeader } = this.#names
    const users = headersDistinct[user]
    if (!users || !this.#from.allows(socket.remoteAddress ?? '')) return undefined
    const [name = ''] = users
    if (users.length > 1 || !isOperatorName(name)) {
      throw new ApiError('unauthorized', `the proxy sent no name in ${user}`)
    }
    const roles = headersDistinct[roleHeader] ?? []
    const role = roles.length === 1 ? readRole(roles[0]) : undefined
    if (!role) {
      const words = `${operatorRoles.join(', ')} in ${roleHeader}`
      throw new ApiError('unauthorized', `the proxy sent no role for ${name}: send one of ${words}`)
    }
    return { name, role: roleOf[role] }
  }
}
