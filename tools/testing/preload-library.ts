import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Lacking, lacks } from './lacks.ts'

/** True where there is no C compiler; in CI never. */
export const lacksCompiler: Lacking = lacks('cc', '--version')

const flags = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-pthread']

/**
 * Builds, in a folder, the library that makes a server with an append-only file lose at its kill all that it
 * has not fsynced, as if its machine had lost its power. Returns its path, for a server to preload.
 */
export function buildLossyDisk(folder: string): string {
  return buildPreloadLibrary('lossy-disk', folder)
}

/**
 * Builds, in a folder, the library that makes the date of a server jump 20 s ahead at a SIGUSR2, and back at
 * the next. Returns its path, for a server to preload.
 */
export function buildSteppingClock(folder: string): string {
  return buildPreloadLibrary('stepping-clock', folder)
}

function buildPreloadLibrary(name: 'lossy-disk' | 'stepping-clock', folder: string): string {
  const library = join(folder, `${name}.so`)
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url))
  execFileSync('cc', [...flags, '-o', library, source])
  return library
}
