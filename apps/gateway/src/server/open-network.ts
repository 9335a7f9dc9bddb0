import type { Config } from '../config/load-config.ts'
import { flagOf, type OptionName } from '../config/options.ts'
import { StartError } from '../errors.ts'
import { bindAddresses, isLoopback } from '../net/addresses.ts'

interface OpenPort {
  readonly port: OptionName
  /** True if clients must log in. */
  readonly isGuarded: (config: Config) => boolean
  readonly warning: string
}

/** Ports, with the warning for each that is open without a password. */
const ports: readonly OpenPort[] = [
  {
    port: 'gearmanPort',
    isGuarded: ({ gearmanTlsVerifyClients, gearmanTlsCert, gearmanTlsCa }) =>
      gearmanTlsVerifyClients && gearmanTlsCert !== undefined && gearmanTlsCa !== undefined,
    warning: `The Gearman port is open to the network: every machine of it may hand in and take jobs. The protocol knows no passwords: ask for certificates (${flagOf('gearmanTlsVerifyClients')}), or let a firewall guard the port.`,
  },
  {
    port: 'faktoryPort',
    isGuarded: ({ faktoryPassword }) => faktoryPassword !== undefined,
    warning: `The Faktory port is open to the network without a password (${flagOf('faktoryOpen')} yes): every machine of it may hand in and take jobs.`,
  },
  {
    port: 'httpPort',
    isGuarded: () => false,
    warning:
      'The HTTP port is open to the network: every machine of it may hand in jobs. It knows no passwords: let a firewall guard it.',
  },
  {
    port: 'webPort',
    isGuarded: () => false,
    warning:
      'The web port is open to the network: every machine of it may read figures, workers and cron entries. Changes are taken from this machine alone.',
  },
]

/**
 * Warnings for doors that are open to the network. A Faktory port without a password is for
 * loopback only, unless the operator allows it.
 *
 * @throws StartError (code 2)
 */
export async function checkOpenNetwork(config: Config): Promise<readonly string[]> {
  const { host, faktoryPort, faktoryPassword, faktoryOpen } = config
  // The listener reports a host that cannot be found.
  const addresses = await bindAddresses(host).catch(() => [])
  if (addresses.every((address) => isLoopback(address.host))) return []
  if (faktoryPort !== 'off' && faktoryPassword === undefined && !faktoryOpen) {
    const ways = [
      `give ${flagOf('faktoryPassword')}`,
      `close it with ${flagOf('faktoryPort')} off`,
      `or allow it with ${flagOf('faktoryOpen')} yes where every machine of the network may hand in and take jobs`,
    ]
    throw new StartError(
      `The Faktory port would be open to the network without a password (${flagOf('host')} ${host}): ${ways.join(', ')}.`,
      2,
    )
  }
  return ports
    .filter(({ port, isGuarded }) => config[port] !== 'off' && !isGuarded(config))
    .map(({ warning }) => warning)
}
