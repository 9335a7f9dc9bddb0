import { randomBytes } from 'node:crypto'

/** A new name for a node, which says from version 2 on which version it knows. */
export function newNodeName(version: number, name = randomBytes(5).toString('hex')): string {
  return version === 1 ? name : `${version}x${name}`
}

/** The version of the structures that a node knows. */
export function versionOfNode(name: string): number {
  return Number(/^(\d+)x/.exec(name)?.[1] ?? 1)
}
