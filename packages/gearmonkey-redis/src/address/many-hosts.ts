import type { ClusterAddress, HostPort, SentinelAddress } from './store-address.ts'

interface Tls {
  readonly tls: boolean
}

/** Contents of a URL with several hosts. */
export type ManyHostsAddress =
  | (SentinelAddress & Tls & { readonly db: number })
  | (ClusterAddress & Tls)

const form =
  /^(rediss?)\+(sentinel|cluster):\/\/(?:([^@/?]*)@)?([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/
const hostForm = /^(?:\[([0-9a-fA-F:.]+)\]|([^[\]:@]+))(?::(\d{1,5}))?$/
const usualPort = { sentinel: 26_379, cluster: 6379 } as const
const sentinelParameters = new Set(['db', 'sentinel_username', 'sentinel_password'])

/**
 * Parses `redis+sentinel://[user:password@]host[:port],.../name[?db=n]` (`sentinel_username`, `sentinel_password`: the
 * Sentinels' own login) or `redis+cluster://[user:password@]host[:port],...`; `rediss+...` for TLS. Undefined for others.
 *
 * @throws URIError for a broken percent escape
 */
export function manyHostsAddress(text: string): ManyHostsAddress | undefined {
  const [, scheme, kind, userinfo, hostList = '', path = '', query = ''] = form.exec(text) ?? []
  if (kind !== 'sentinel' && kind !== 'cluster') return undefined
  const hosts = hostList.split(',').map((host) => hostOf(host, usualPort[kind]))
  if (!hosts.every((host) => host !== undefined)) return undefined
  const common = { tls: scheme === 'rediss', ...loginOf(userinfo) }
  if (kind === 'cluster') {
    return path === '' && query === '' ? { nodes: hosts, ...common } : undefined
  }
  const parameters = new URLSearchParams(query)
  const isKnown = [...parameters.keys()].every((name) => sentinelParameters.has(name))
  const db = parameters.get('db') ?? '0'
  const name = decodeURIComponent(path)
  if (name === '' || !isKnown || !/^\d{1,9}$/.test(db)) return undefined
  const username = parameters.get('sentinel_username')
  const password = parameters.get('sentinel_password')
  return {
    sentinels: hosts,
    name,
    ...common,
    db: Number(db),
    ...(username === null ? {} : { sentinelUsername: username }),
    ...(password === null ? {} : { sentinelPassword: password }),
  }
}

function hostOf(text: string, usual: number): HostPort | undefined {
  const [, v6, name, port] = hostForm.exec(text) ?? []
  const host = v6 ?? name
  const number = port === undefined ? usual : Number(port)
  if (host === undefined || number < 1 || number > 65_535) return undefined
  return { host, port: number }
}

function loginOf(userinfo = ''): { readonly username?: string; readonly password?: string } {
  const colon = userinfo.indexOf(':')
  const username = decodeURIComponent(colon < 0 ? userinfo : userinfo.slice(0, colon))
  const password = colon < 0 ? '' : decodeURIComponent(userinfo.slice(colon + 1))
  return { ...(username && { username }), ...(password && { password }) }
}
