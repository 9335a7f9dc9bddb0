import type { Config } from '../config/load-config.ts'
import type { OpenDoor } from '../ops/log/banner.ts'
import { ownNames } from '../net/foreign-requests.ts'
import { createWebServer, type WebParts } from '../ops/web-server.ts'
import type { Closers } from './running-gateway.ts'

/**
 * Opens the port for monitoring, unless it is off.
 *
 * @throws StartError
 */
export async function openWeb(
  { webPort: port, host, allowedHosts }: Config,
  parts: Omit<WebParts, 'names'>,
  closers: Closers,
): Promise<OpenDoor[]> {
  if (port === 'off') return []
  const web = createWebServer({ ...parts, names: ownNames(allowedHosts, host) })
  closers.push({ what: 'web', close: () => web.close() })
  return [{ name: 'web', ...(await web.listen({ host, port })) }]
}
