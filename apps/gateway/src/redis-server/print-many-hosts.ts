import type { ClusterStoreAddress, SentinelStoreAddress } from './store-address.ts'

type Host = SentinelStoreAddress['sentinels'][number]

/** The address as a URL; a password shows as `***`. */
export function printManyHosts(address: SentinelStoreAddress | ClusterStoreAddress): string {
  const { tls, username = '', password } = address
  const login = password === undefined ? '' : `${encodeURIComponent(username)}:***@`
  const list = (hosts: readonly Host[]): string => hosts.map(printHost).join(',')
  const scheme = tls ? 'rediss' : 'redis'
  if ('nodes' in address) return `${scheme}+cluster://${login}${list(address.nodes)}`
  const db = address.db === 0 ? '' : `?db=${address.db}`
  const name = encodeURIComponent(address.name)
  return `${scheme}+sentinel://${login}${list(address.sentinels)}/${name}${db}`
}

function printHost({ host, port }: Host): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
