import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('forgetful-disk.c', import.meta.url))

/** True where what needs a C compiler cannot run; in CI never. */
export const lacksCompiler: boolean =
  spawnSync('cc', ['--version']).status !== 0 && process.env['CI'] !== 'true'

/**
 * Builds, in a folder, the library that makes a server with an append-only file lose at its kill all that it
 * has not fsynced, as if its machine had lost its power. Returns its path, for a server to preload.
 */
export function buildForgetfulDisk(folder: string): string {
  const library = join(folder, 'forgetful-disk.so')
  execFileSync('cc', [
    '-shared',
    '-fPIC',
    '-O1',
    '-Wall',
    '-Wextra',
    '-pthread',
    '-o',
    library,
    source,
  ])
  return library
}
