import { execFile } from 'node:child_process'
import { oneLine } from '../errors.ts'
import type { Logger } from './log/logger.ts'

const answerWithinMs = 5000

/**
 * Tells systemd how it stands, where a unit has `Type=notify`. Node has no datagram sockets of Unix: systemd's own
 * program tells it, so that the unit needs `NotifyAccess=all`.
 */
export function notify(env: NodeJS.ProcessEnv, log: Logger, words: readonly string[]): void {
  if (env['NOTIFY_SOCKET'] === undefined) return
  execFile('systemd-notify', [...words], { env, timeout: answerWithinMs }, (error) => {
    if (error) log.warn(`systemd could not be notified (${words[0]}): ${oneLine(error)}`)
  })
}
