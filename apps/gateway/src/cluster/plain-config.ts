import type { Config } from '../config/load-config.ts'
import { plainEntry, readCronEntry } from '../ops/cron/cron-entry.ts'
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
    cron: config.cron.map(plainEntry),
  }
}

/** The configuration as it was before it was sent. */
export function configOf(plain: PlainConfig): Config {
  return { ...plain, cron: plain.cron.map((entry) => readCronEntry(entry)) }
}
