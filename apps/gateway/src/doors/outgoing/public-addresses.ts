import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Networks that are no part of the public IPv4 internet; the last one is the metadata server of Azure. */
const privateV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '168.63.129.16/32',
]
/** All public IPv6 addresses; these leave out mapped IPv4, NAT64, unique local, link-local and multicast ones. */
const globalV6 = '2000::/3'
/** Parts of it that are not: Teredo and protocols, documentation, and 6to4, which holds an IPv4 address. */
const privateV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

const refusedV4 = listOf(privateV4, 'ipv4')
const acceptedV6 = listOf([globalV6], 'ipv6')
const refusedV6 = listOf(privateV6, 'ipv6')

/** False for loopback, private, link-local, metadata, multicast and reserved addresses, and for what is none. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !refusedV4.check(address, 'ipv4')
  return version === 6 && acceptedV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6')
}

/** False for a host of a URL that is a private address, or this machine's name; other names are looked up with each connection. */
export function mayBePublic(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase()
  if (isIP(host) !== 0) return isPublicAddress(host)
  return host !== 'localhost' && !host.endsWith('.localhost')
}

/** Resolves a name to its public addresses alone: what it returns is connected to, so that a second answer changes nothing. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) {
      callback(error, [])
      return
    }
    const accepted = addresses.filter(({ address }) => isPublicAddress(address))
    const [first] = accepted
    if (!first) callback(new Error(`${hostname} has a private address`), [])
    else if (options.all) callback(null, accepted)
    else callback(null, first.address, first.family)
  })
}
