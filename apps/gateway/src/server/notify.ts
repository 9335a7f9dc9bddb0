import { execFile } from 'node:child_process'
import { oneLine } from '../errors.ts'
import type { Logger } from '../config/log/logger.ts'

/** Time for systemd to take a message. */
const notifyWithinMs = 5000

/**
 * Tells systemd the gateway's state, for units with `Type=notify`. Node has no datagram Unix sockets, so systemd's own program
 * sends it: the unit needs `NotifyAccess=all`.
 */
export function notify(env: NodeJS.ProcessEnv, log: Logger, words: readonly string[]): void {
  if (env['NOTIFY_SOCKET'] === undefined) return
  execFile('systemd-notify', [...words], { env, timeout: notifyWithinMs }, (error) => {
    if (error) log.warn(`systemd could not be notified (${words[0]}): ${oneLine(error)}`)
  })
}
