import { randomBytes } from 'node:crypto'

/** The mark of a node that reads framed events; those of a former version have hexadecimal digits alone. */
const eventMark = 'm'

/** A new name for a node, which says from version 2 on which version it knows. */
export function newNodeName(
  version: number,
  name = `${eventMark}${randomBytes(5).toString('hex')}`,
): string {
  return version === 1 ? name : `${version}x${name}`
}

/** True for a node that reads framed events, as lua/lib/jobs.lua has it. */
export function readsEvents(name: string): boolean {
  return /^(\d+x)?m/.test(name)
}

/** The version of the structures that a node knows. */
export function versionOfNode(name: string): number {
  return Number(/^(\d+)x/.exec(name)?.[1] ?? 1)
}
