import { bindAddresses, isLoopback } from '../net/addresses.ts'
import type { Config } from '../config/load-config.ts'
import { flagOf } from '../config/options.ts'
import { StartError } from './start-error.ts'

/**
 * A Faktory port without a password is for this machine alone, unless the operator wants it so.
 *
 * @throws StartError (code 2)
 */
export async function refuseOpenFaktory(config: Config): Promise<void> {
  const { host, faktoryPort, faktoryPassword, faktoryOpen } = config
  if (faktoryPort === 'off' || faktoryPassword !== undefined || faktoryOpen) return
  // A host that cannot be found is the listener's to tell.
  const addresses = await bindAddresses(host).catch(() => [])
  if (addresses.every((address) => isLoopback(address.host))) return
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
