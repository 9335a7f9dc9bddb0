import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** True where what needs a C compiler cannot run; in CI never. */
export const lacksCompiler: boolean =
  spawnSync('cc', ['--version']).status !== 0 && process.env['CI'] !== 'true'

const flags = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-pthread']

/** Builds, in a folder, a library for a server to preload. Returns its path. */
export function buildPreloadLibrary(name: 'lossy-disk' | 'stepping-clock', folder: string): string {
  const library = join(folder, `${name}.so`)
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url))
  execFileSync('cc', [...flags, '-o', library, source])
  return library
}
