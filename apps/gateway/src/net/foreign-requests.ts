import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { anyHost } from './addresses.ts'

/** Any name may stand in the header Host. */
export const anyName = '*'

/** Pages of the gateway's own origin, and what no page caused. */
const ownSite: ReadonlySet<string> = new Set(['same-origin', 'none'])
const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** A list with commas; undefined where one of them is no name. */
export function readHostNames(list: string): readonly string[] | undefined {
  const names = list.split(',').map((name) => name.trim().toLowerCase())
  return names.every((name) => name === anyName || /^[\w-]+(\.[\w-]+)*$/.test(name))
    ? names
    : undefined
}

/** Names by which a gateway may be asked: those that are configured, and the one that it listens on. */
export function ownNames(list: string | undefined, listensOn: string): readonly string[] {
  const configured = list === undefined ? [] : (readHostNames(list) ?? [])
  return isIP(listensOn) !== 0 || listensOn === anyHost
    ? configured
    : [...configured, listensOn.toLowerCase()]
}

/**
 * True where the header Host names this gateway: an address, localhost or one of the names. Another name
 * may be one that a web page has made to point here (DNS rebinding). Without the header there is no
 * browser.
 */
export function namesUs(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined || host === '' || names.includes(anyName)) return true
  const [, address, word = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d*)?$/.exec(host) ?? []
  if (address !== undefined) return isIP(address) === 6
  const name = word.toLowerCase().replace(/\.$/, '')
  return (
    isIP(name) === 4 || name === 'localhost' || name.endsWith('.localhost') || names.includes(name)
  )
}

/** True where a web page of another origin caused the request. */
export function isCrossSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (typeof site === 'string' && !ownSite.has(site)) return true
  const { origin, host } = headers
  return origin !== undefined && !isOriginOf(origin, host ?? '')
}

function isOriginOf(origin: string, host: string): boolean {
  try {
    const { protocol, host: shown, port, hostname } = new URL(origin)
    const name = host.toLowerCase()
    return name === shown || (port === '' && name === `${hostname}:${defaultPorts[protocol] ?? ''}`)
  } catch {
    return false // `null`, of a page without an origin
  }
}
