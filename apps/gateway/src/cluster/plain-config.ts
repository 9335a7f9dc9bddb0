import type { Config } from '../config/load-config.ts'
import type { PlainConfig } from './messages.ts'

/** Room for the parts of a packet besides its data. */
const spareBytes = 1024 * 1024

/** Configuration of each process: common bounds are divided among them. */
export function plainConfig(config: Config): PlainConfig {
  const { processes, maxBufferedBytes, maxPacketBytes } = config
  const share = Math.ceil(maxBufferedBytes / processes)
  // Each has room for a packet of the largest size.
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
