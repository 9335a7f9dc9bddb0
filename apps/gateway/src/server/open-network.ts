import type { Config } from '../config/load-config.ts'
import { flagOf, type OptionName } from '../config/options.ts'
import { doors } from '../doors/table.ts'
import { StartError } from '../errors.ts'
import { bindAddresses, isLoopback } from '../doors/net/addresses.ts'

interface OpenPort {
  readonly port: OptionName
  /** True if clients must log in. */
  readonly isGuarded: (config: Config) => boolean
  readonly warning: string
}

/** Ports, with the warning for each that is open without a password. */
const ports: readonly OpenPort[] = [
  ...doors.map(({ name, isGuarded, openWarning: warning }): OpenPort => {
    return { port: `${name}Port`, isGuarded, warning }
  }),
  {
    port: 'webPort',
    isGuarded: ({ webOpen }) => !webOpen,
    warning: `The web port is open to the network (${flagOf('webOpen')} yes): every machine in it may read figures, workers and jobs with their payloads.`,
  },
]

interface ClosedDoor {
  readonly name: string
  readonly isRefused: (config: Config) => boolean
  readonly options: Readonly<Record<'password' | 'port' | 'open', OptionName>>
  readonly whatItAllows: string
}

/** Ports that are for this machine alone without a password, unless the operator wants it otherwise. */
const closedDoors: readonly ClosedDoor[] = [
  {
    name: 'Faktory',
    isRefused: ({ faktoryPort, faktoryPassword, faktoryOpen }) =>
      faktoryPort !== 'off' && faktoryPassword === undefined && !faktoryOpen,
    options: { password: 'faktoryPassword', port: 'faktoryPort', open: 'faktoryOpen' },
    whatItAllows: 'submit and take jobs',
  },
  {
    name: 'web',
    isRefused: ({ webPort, webPassword, webReaderPassword, webUserHeader, operators, webOpen }) =>
      webPort !== 'off' &&
      (webPassword ?? webReaderPassword ?? webUserHeader) === undefined &&
      operators.size === 0 &&
      !webOpen,
    options: { password: 'webPassword', port: 'webPort', open: 'webOpen' },
    whatItAllows: 'read figures and jobs',
  },
]

function refuse({ name, options, whatItAllows }: ClosedDoor, reason: string): never {
  const ways = [
    `give ${flagOf(options.password)}`,
    `close it with ${flagOf(options.port)} off`,
    `or allow it with ${flagOf(options.open)} yes where every machine of the network may ${whatItAllows}`,
  ]
  throw new StartError(
    `The ${name} port would be open to the network without a password (${reason}): ${ways.join(', ')}.`,
    2,
  )
}

/**
 * Warnings for doors that are open to the network. A port whose socket was `handedOver`, by its flag, listens where that
 * socket does, whatever the options say: `checkOpenSocket` is for it.
 *
 * @throws StartError (code 2)
 */
export async function checkOpenNetwork(
  config: Config,
  handedOver: Pick<ReadonlySet<string>, 'has'> = new Set(),
): Promise<readonly string[]> {
  const open = new Map<OptionName, string>()
  for (const { port } of ports) {
    if (handedOver.has(flagOf(port))) continue
    const option = port === 'webPort' && config.webHost !== undefined ? 'webHost' : 'host'
    const host = config[option] ?? ''
    // The listener reports a host that cannot be found.
    const addresses = await bindAddresses(host).catch(() => [])
    if (addresses.some((address) => !isLoopback(address.host))) {
      open.set(port, `${flagOf(option)} ${host}`)
    }
  }
  for (const door of closedDoors) {
    const where = open.get(door.options.port)
    if (where !== undefined && door.isRefused(config)) refuse(door, where)
  }
  return ports
    .filter(({ port, isGuarded }) => open.has(port) && config[port] !== 'off' && !isGuarded(config))
    .map(({ warning }) => warning)
}

/**
 * Checks a port whose socket was handed over: returns its warning, if it needs one.
 *
 * @throws StartError (code 2)
 */
export function checkOpenSocket(config: Config, flag: string, host: string): string | undefined {
  if (isLoopback(host)) return undefined
  const closed = closedDoors.find((door) => flagOf(door.options.port) === flag)
  if (closed?.isRefused(config)) refuse(closed, `its socket listens on ${host}`)
  const found = ports.find(({ port }) => flagOf(port) === flag)
  return found?.isGuarded(config) ? undefined : found?.warning
}
