const idDigits = 16

/** The id of the job that a handle names, as its keys have it. */
export function idIn(handle: string): string {
  return String(Number(handle.slice(-idDigits)))
}

/** The number of its lane. */
export function laneNumberIn(handle: string): number {
  return Number(handle.slice(handle.lastIndexOf(':') + 1, -idDigits))
}
