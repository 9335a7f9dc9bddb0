import { anyHost } from '../../doors/net/addresses.ts'
import type { Given } from '../../config/load-config.ts'
import type { OptionName } from '../../config/options.ts'
import { StartError } from '../../errors.ts'

/** The options of a port that a binding sets. */
export interface BoundDoor {
  readonly host: OptionName
  readonly port: OptionName
}

export const faktoryDoor: BoundDoor = { host: 'host', port: 'faktoryPort' }
export const webDoor: BoundDoor = { host: 'webHost', port: 'webPort' }

const maxPort = 65_535
const form = /^(?:\[([\da-fA-F:.%]+)\]|([\w.*-]*)):(\d{1,5})$/

/**
 * Reads `localhost:7419`, `[::1]:7419` or `:7419`, which is every address of the machine.
 *
 * @throws StartError (code 2)
 */
export function readBinding(
  door: BoundDoor,
  from: string,
  value: unknown,
): ReadonlyMap<OptionName, Given> {
  const [text, ipv6, name, port] = (typeof value === 'string' && form.exec(value)) || []
  if (text === undefined || Number(port) > maxPort) {
    const shown = JSON.stringify(value)
    throw new StartError(
      `${from} is ${shown}: give host:port, such as localhost:7419, or :7419 for every address of this machine.`,
      2,
    )
  }
  // The server takes this one binding of the web port for "none".
  if (door === webDoor && text === ':0') return new Map([[door.port, { from, value: 'off' }]])
  const host = ipv6 ?? (name === '' ? anyHost : name)
  return new Map([
    [door.host, { from, value: host }],
    [door.port, { from, value: Number(port) }],
  ])
}
