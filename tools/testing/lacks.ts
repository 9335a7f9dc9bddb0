import { spawnSync } from 'node:child_process'

/** The program that tests want and the machine lacks, for vitest's `skipIf`; false where it is there. */
export type Lacking = string | false

/**
 * The program as lacking, if it cannot be started with these words. In CI nothing is lacking: tests fail there instead
 * of being skipped.
 */
export function lacks(program: string, ...words: readonly string[]): Lacking {
  return lacksUnless(program, () => spawnSync(program, words, { stdio: 'ignore' }).status === 0)
}

/** True where a `need` is lacking that is no program, or that is found in another way. */
export function lacksUnless(need: string, isThere: () => boolean): Lacking {
  return process.env['CI'] === 'true' || isThere() ? false : need
}
