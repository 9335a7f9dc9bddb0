import { StartError } from '../errors.ts'
import { optionNames, variablesOf } from './options.ts'
import { refuseRemoved } from './removed-options.ts'

const prefix = 'CROSSGEAR_'

/** Read by the commands that ask a running gateway. */
export const urlVariable = 'CROSSGEAR_URL'
export const userVariable = 'CROSSGEAR_USER'
export const caVariable = 'CROSSGEAR_CA'

/**
 * Set by Kubernetes in every pod next to a service named `crossgear...`: CROSSGEAR_SERVICE_HOST,
 * CROSSGEAR_WEB_PORT_7420_TCP_ADDR and the like.
 */
const ofServices = /_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/
/** A CROSSGEAR_PORT from Kubernetes is a URL, not a number. */
const serviceUrl = /^(tcp|udp|sctp):\/\//

/**
 * Refuses variables that name no setting, as unknown flags are refused. An empty one counts as
 * unset.
 *
 * @throws StartError (code 2)
 */
export function refuseUnknownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const known = [
    urlVariable,
    userVariable,
    caVariable,
    ...optionNames.flatMap((name) => variablesOf(name)),
  ]
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(prefix) || !value || known.includes(name)) continue
    if (ofServices.test(name) || serviceUrl.test(value)) continue
    refuseRemoved(name.slice(prefix.length).toLowerCase(), name)
    const own = known.filter((variable) => variable.startsWith(prefix))
    const advice = closest(
      name.slice(prefix.length),
      own.map((variable) => variable.slice(prefix.length)),
    )
    const remedy =
      advice === undefined ? 'see crossgear --help' : `did you mean ${prefix}${advice}?`
    throw new StartError(`${name} is not a setting: ${remedy}`, 2)
  }
}

/** With more typing errors than this it is another word. */
const maxDistance = 3

/** The candidate nearest to a misspelt word, if any is near enough. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '')
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(plain(word), plain(candidate)) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  const bound = Math.min(maxDistance, Math.floor(word.length / 3))
  return best && best.distance <= bound ? best.candidate : undefined
}

/** Letters changed, added, removed, or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const changed = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      const removed = (previous[column] ?? 0) + 1
      const added = (current[column - 1] ?? 0) + 1
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const swapped = isSwap ? (beforePrevious[column - 2] ?? 0) + 1 : Infinity
      current.push(Math.min(changed, removed, added, swapped))
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length] ?? 0
}
