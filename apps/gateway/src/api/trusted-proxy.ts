import type { IncomingMessage } from 'node:http'
import { isOperatorName, operatorRoles, readRole } from '../config/operators.ts'
import { NetworkList } from '../net/networks.ts'
import { ApiError } from './api-error.ts'
import type { Person } from './people.ts'
import { roleOf } from './roles.ts'

/** A proxy in front of the web port that knows who sends a request. */
export interface ProxyOptions {
  readonly userHeader: string
  readonly roleHeader: string
  /** Its addresses and networks: the headers count from nowhere else. */
  readonly from: readonly string[]
}

/** Names people by the headers of a proxy. */
export class TrustedProxy {
  readonly #userHeader: string
  readonly #roleHeader: string
  readonly #from: NetworkList

  constructor({ userHeader, roleHeader, from }: ProxyOptions) {
    this.#userHeader = userHeader.toLowerCase()
    this.#roleHeader = roleHeader.toLowerCase()
    this.#from = new NetworkList(from)
  }

  /** Undefined for a request in which the proxy names nobody. Throws an ApiError for names and roles that are none. */
  personOf({
    headersDistinct,
    socket,
  }: Pick<IncomingMessage, 'headersDistinct' | 'socket'>): Person | undefined {
    const users = headersDistinct[this.#userHeader]
    if (!users || !this.#from.allows(socket.remoteAddress ?? '')) return undefined
    const [name = ''] = users
    if (users.length > 1 || !isOperatorName(name)) {
      throw new ApiError('unauthorized', `the proxy sent no name in ${this.#userHeader}`)
    }
    const roles = headersDistinct[this.#roleHeader] ?? []
    const role = roles.length === 1 ? readRole(roles[0]) : undefined
    if (!role) {
      const words = `${operatorRoles.join(', ')} in ${this.#roleHeader}`
      throw new ApiError('unauthorized', `the proxy sent no role for ${name}: send one of ${words}`)
    }
    return { name, role: roleOf[role] }
  }
}
