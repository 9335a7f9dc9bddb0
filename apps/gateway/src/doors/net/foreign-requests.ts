import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { anyHost } from './addresses.ts'

/** Allows any name in the header Host. */
export const anyName = '*'

/** Requests of the gateway's own pages, and requests without a page. */
const ownSite: ReadonlySet<string> = new Set(['same-origin', 'none'])
const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** Parses a list with commas; undefined if it contains an invalid name. */
export function readHostNames(list: string): readonly string[] | undefined {
  const names = list.split(',').map((name) => name.trim().toLowerCase())
  return names.every((name) => name === anyName || /^[\w-]+(\.[\w-]+)*$/.test(name))
    ? names
    : undefined
}

/** Names of a gateway: the configured ones, and the one it listens on. */
export function ownNames(list: string | undefined, listensOn: string): readonly string[] {
  const configured = list === undefined ? [] : (readHostNames(list) ?? [])
  return isIP(listensOn) !== 0 || listensOn === anyHost
    ? configured
    : [...configured, listensOn.toLowerCase()]
}

/**
 * True if the header Host names this gateway: an address, localhost or one of the names. Any other
 * name may be a web page's that points here (DNS rebinding). Browsers always send the header.
 */
export function namesUs(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined || host === '' || names.includes(anyName)) return true
  const name = hostOf(host)
  return (
    isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || names.includes(name)
  )
}

/** The name or address in the header Host, in lower case and without a port; empty if it is invalid. */
export function hostOf(header: string): string {
  const [, address, word = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d*)?$/.exec(header) ?? []
  if (address !== undefined) return isIP(address) === 6 ? address : ''
  return word.toLowerCase().replace(/\.$/, '')
}

/** True if a web page of another origin caused the request. */
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
