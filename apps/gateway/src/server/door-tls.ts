import type { Config } from '../config/load-config.ts'
import { flagOf } from '../config/options.ts'
import { readTls, type TlsOptions } from '../net/tls.ts'

/** The doors that speak TLS, each with what it needs. */
export interface DoorTls {
  readonly gearman?: TlsOptions
  readonly faktory?: TlsOptions
}

/**
 * Reads and checks what the configuration names for TLS.
 *
 * @throws StartError
 */
export function readDoorTls(config: Config): DoorTls {
  const gearman = readTls(
    {
      cert: config.gearmanTlsCert,
      key: config.gearmanTlsKey,
      ca: config.gearmanTlsCa,
      requireClientCert: config.gearmanTlsVerifyClients,
    },
    {
      cert: flagOf('gearmanTlsCert'),
      key: flagOf('gearmanTlsKey'),
      ca: flagOf('gearmanTlsCa'),
      requireClientCert: flagOf('gearmanTlsVerifyClients'),
    },
  )
  const faktory = readTls(
    { cert: config.faktoryTlsCert, key: config.faktoryTlsKey },
    { cert: flagOf('faktoryTlsCert'), key: flagOf('faktoryTlsKey') },
  )
  return { ...(gearman && { gearman }), ...(faktory && { faktory }) }
}
