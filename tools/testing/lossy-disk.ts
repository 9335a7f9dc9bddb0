import { buildPreloadLibrary } from './preload-library.ts'

export { lacksCompiler } from './preload-library.ts'

/**
 * Builds, in a folder, the library that makes a server with an append-only file lose at its kill all that it
 * has not fsynced, as if its machine had lost its power. Returns its path, for a server to preload.
 */
export function buildLossyDisk(folder: string): string {
  return buildPreloadLibrary('lossy-disk', folder)
}
