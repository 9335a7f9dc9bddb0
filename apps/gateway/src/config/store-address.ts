import {
  manyHostsAddress,
  type SentinelAddress,
  type ServerAddress,
  type StoreAddress,
} from '@crossgear/redis-store/address'

const defaultPort = 6379

const readers: Readonly<Record<string, (url: URL) => ServerAddress | undefined>> = {
  'redis:': (url) => tcpAddress(url, false),
  'rediss:': (url) => tcpAddress(url, true),
  'unix:': unixAddress,
}

/**
 * Parses `redis://[user:password@]host[:port][/db]`, `rediss://...` (TLS), `unix:///path[?db=n&username=u&password=p]`, or
 * several servers as {@link manyHostsAddress} does. Undefined for anything else.
 */
export function parseStoreUrl(text: string): StoreAddress | undefined {
  try {
    const many = manyHostsAddress(text)
    if (many) return many
    const url = new URL(text)
    return readers[url.protocol]?.(url)
  } catch {
    return undefined // not a URL, or a broken percent sign in one
  }
}

/** A store URL for logs, without the password. */
export function maskStoreUrl(text: string): string {
  return text
    .replace(/^([\w+]+:\/\/[^@:]*:).*@/, '$1***@')
    .replace(/([?&](?:sentinel_)?password=)[^&]*/, '$1***')
}

/** The address as a URL to read or paste; a password shows as `***`. */
export function printStoreAddress(address: StoreAddress): string {
  const { tls, username = '', password } = address
  const login = password === undefined ? '' : `${encodeURIComponent(username)}:***@`
  const scheme = tls ? 'rediss' : 'redis'
  const list = (hosts: SentinelAddress['sentinels']): string => hosts.map(printHost).join(',')
  if ('nodes' in address) return `${scheme}+cluster://${login}${list(address.nodes)}`
  const database = (mark: string): string => (address.db ? `${mark}${address.db}` : '')
  if ('sentinels' in address) {
    const name = encodeURIComponent(address.name)
    return `${scheme}+sentinel://${login}${list(address.sentinels)}/${name}${database('?db=')}`
  }
  const { path, host = '', port = defaultPort } = address
  return path === undefined
    ? `${scheme}://${login}${printHost({ host, port })}${database('/')}`
    : `unix://${encodeURI(path)}${database('?db=')}`
}

function tcpAddress(url: URL, tls: boolean): ServerAddress | undefined {
  const db = databaseNumber(url.pathname.slice(1))
  if (db === undefined || url.hostname === '' || url.search !== '' || url.hash !== '') {
    return undefined
  }
  return {
    host: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
    tls,
    ...login(url.username, url.password),
    db,
  }
}

const unixParameters = new Set(['db', 'username', 'password'])

function unixAddress(url: URL): ServerAddress | undefined {
  const query = url.searchParams
  const db = databaseNumber(query.get('db') ?? '')
  const known = [...query.keys()].every((name) => unixParameters.has(name))
  if (db === undefined || !known || url.host !== '' || url.pathname.length < 2 || url.hash !== '') {
    return undefined
  }
  return {
    path: decodeURIComponent(url.pathname),
    ...login(
      encodeURIComponent(query.get('username') ?? ''),
      encodeURIComponent(query.get('password') ?? ''),
    ),
    db,
  }
}

function login(username: string, password: string): Pick<ServerAddress, 'username' | 'password'> {
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  }
}

function databaseNumber(text: string): number | undefined {
  if (text === '') return 0
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

function printHost({ host, port }: SentinelAddress['sentinels'][number]): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
