import { StartError } from '../errors.ts'

/** Settings of former versions, by their key in the file, with what takes their place. */
const removed: ReadonlyMap<string, string> = new Map([
  ['processes', 'start several gateways on one store (docs/operate/several-gateways.md)'],
])

/**
 * Refuses a setting that is gone. `from`: as it was written.
 *
 * @throws StartError (code 2)
 */
export function refuseRemoved(key: string, from: string): void {
  const instead = removed.get(key)
  if (instead !== undefined) throw new StartError(`${from} is gone: ${instead}.`, 2)
}
