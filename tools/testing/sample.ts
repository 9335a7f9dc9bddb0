import { createHash } from 'node:crypto'

/** Names what chooses the part of each matrix that is played, such as a commit, or is `all`. All. */
const variable = 'TEST_SAMPLE'

function chosen(): string {
  return process.env[variable] ?? 'all'
}

/** True where matrices are played whole: at night, and where a file is played by itself. */
export function playsAll(): boolean {
  return chosen() === 'all'
}

/** A number that the run's commit chooses, from 0 to below `bound`. */
export function numberOfRun(bound: number): number {
  return createHash('sha256').update(chosen()).digest().readUInt32BE(0) % bound
}

/** One in so many cases: neighbours, which are alike, are in different parts. All where matrices are played whole. */
export function sampleOf<Case>(cases: readonly Case[], parts: number): readonly Case[] {
  if (playsAll()) return cases
  const part = numberOfRun(parts)
  return cases.filter((_, at) => at % parts === part)
}

/** Pairs in which each one and each other is at least once. All pairs where matrices are played whole. */
export function samplePairs<One, Other>(
  ones: readonly One[],
  others: readonly Other[],
): readonly (readonly [One, Other])[] {
  const all = ones.flatMap((one) => others.map((other) => [one, other] as const))
  if (playsAll()) return all
  const longer = Math.max(ones.length, others.length)
  const shift = numberOfRun(longer)
  const chosenPairs = new Set(
    Array.from({ length: longer }, (_, at) => {
      return (at % ones.length) * others.length + ((at + shift) % others.length)
    }),
  )
  return all.filter((_, at) => chosenPairs.has(at))
}
