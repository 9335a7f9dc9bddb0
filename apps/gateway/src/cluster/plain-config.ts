import type { Config } from '../config/load-config.ts'
import type { PlainConfig } from './messages.ts'

/** For what belongs to a packet beside its data. */
const spareBytes = 1024 * 1024

/** The configuration of each process: bounds over all of them are shared out. */
export function plainConfig(config: Config): PlainConfig {
  const { processes, maxBufferedBytes, maxPacketBytes } = config
  const share = Math.ceil(maxBufferedBytes / processes)
  // A packet of the largest size has room in any of them.
  const least = Math.min(maxBufferedBytes, maxPacketBytes + spareBytes)
  return {
    ...config,
    maxBufferedBytes: Math.max(share, least),
    cron: config.cron.map(({ name, schedule, timezone, job }) => ({
      name,
      schedule,
      timezone,
      job,
    })),
  }
}
