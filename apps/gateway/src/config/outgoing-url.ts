import { mayBePublic } from '../doors/outgoing/public-addresses.ts'

/**
 * Why requests may not go to a URL; undefined if they may. `permission`: the setting that allows private addresses. The answer shows
 * nothing of the URL, which may hold credentials.
 */
export function urlFault(
  text: string,
  allowsPrivate: boolean,
  permission: string,
): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return 'is no https:// URL'
  if (url.hash !== '') return 'has a fragment, which no server gets'
  if (allowsPrivate) return undefined
  if (url.protocol === 'http:') return `is not https://, which takes ${permission}`
  return mayBePublic(url.hostname) ? undefined : `is a private address, which takes ${permission}`
}
