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
 * Builds, in a folder, the library that makes the date of a server jump 20 s forward at a SIGUSR2, and back at
 * the next. Returns its path, for a server to preload.
 */
export function buildSteppingClock(folder: string): string {
  return buildPreloadLibrary('stepping-clock', folder)
}

/**
 * Builds, in a folder, the library that takes the date of a server from `clockFile`: a signed 64-bit number of
 * microseconds since 1970, little-endian, which is there before the server starts. Returns its path.
 */
export function buildWorldClock(folder: string, clockFile: string): string {
  return buildPreloadLibrary('world-clock', folder, `-DCLOCK_FILE=${JSON.stringify(clockFile)}`)
}

type LibraryName = 'lossy-disk' | 'stepping-clock' | 'world-clock'

function buildPreloadLibrary(name: LibraryName, folder: string, ...more: string[]): string {
  const library = join(folder, `${name}.so`)
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url))
  execFileSync('cc', [...flags, ...more, '-o', library, source, '-ldl'])
  return library
}
