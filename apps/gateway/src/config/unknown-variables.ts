import { StartError } from '../errors.ts'
import { closest } from './closest.ts'
import { optionNames, variablesOf } from './options.ts'

const PREFIX = 'CROSSGEAR_'

/**
 * Kubernetes sets these in every pod beside a service whose name begins with `crossgear`:
 * CROSSGEAR_SERVICE_HOST, CROSSGEAR_WEB_PORT_7420_TCP_ADDR and the like.
 */
const ofServices = /_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/
/** CROSSGEAR_PORT, which holds no number with them. */
const serviceUrl = /^(tcp|udp|sctp):\/\//

/**
 * A variable that names no setting is a typing error, as such a flag is. An empty one counts as unset.
 *
 * @throws StartError (code 2)
 */
export function refuseUnknownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const known = optionNames.flatMap((name) => variablesOf(name))
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || !value || known.includes(name)) continue
    if (ofServices.test(name) || serviceUrl.test(value)) continue
    const own = known.filter((variable) => variable.startsWith(PREFIX))
    const advice = closest(
      name.slice(PREFIX.length),
      own.map((variable) => variable.slice(PREFIX.length)),
    )
    const remedy =
      advice === undefined ? 'see crossgear --help' : `did you mean ${PREFIX}${advice}?`
    throw new StartError(`${name} is no setting: ${remedy}`, 2)
  }
}
