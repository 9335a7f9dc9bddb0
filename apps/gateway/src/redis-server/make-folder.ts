import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from '../errors.ts'

/**
 * Makes a folder and those above it that are missing; one that exists is left as it is. Node's
 * `recursive` never returns below a folder that can hold none, such as procfs.
 *
 * @throws the system's error
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path), mode)
    await mkdir(path, { mode })
  }
}
