import { buildPreloadLibrary } from './preload-library.ts'

/**
 * Builds, in a folder, the library that makes the date of a server jump 20 s ahead at a SIGUSR2, and back at
 * the next. Returns its path, for a server to preload.
 */
export function buildSteppingClock(folder: string): string {
  return buildPreloadLibrary('stepping-clock', folder)
}
