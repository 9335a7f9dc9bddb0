import { access, chmod, constants, mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError, systemCode } from '../errors.ts'

/** Jobs are private to the user. */
const folderMode = 0o700
const others = 0o077
/** Names that a store's files begin with. */
const ownFiles = /^(?:store\.|appendonly)/
const another = 'choose another with --data-dir or CROSSGEAR_DATA_DIR'

/**
 * Makes a folder that only this user can enter, with its missing parents. An existing one is closed to others if it is empty
 * or a store's: the former mode of a store's is returned.
 *
 * @throws StartError for another user's folder, and for an open one with other files; the system's error
 */
export async function privateFolder(path: string): Promise<string | undefined> {
  await makeFolder(path)
  await access(path, constants.W_OK | constants.X_OK)
  const { uid, mode } = await stat(path)
  if (process.geteuid && uid !== process.geteuid()) {
    throw new StartError(
      `The folder ${path} belongs to another user: ${another}, such as ${join(path, 'store')}.`,
      1,
    )
  }
  if (!process.geteuid || (mode & others) === 0) return undefined
  const files = await readdir(path)
  const isOurs = files.length === 0 || files.some((name) => ownFiles.test(name))
  if (isOurs) await chmod(path, folderMode)
  if (((await stat(path)).mode & others) !== 0) {
    throw new StartError(
      `The folder ${path} is open to other users, who could read jobs there: run chmod 700 on it, or ${another}.`,
      1,
    )
  }
  return files.length === 0 ? undefined : (mode & 0o7777).toString(8)
}

/** Node's `recursive` never returns below a folder that can hold none, such as procfs. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: folderMode })
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await mkdir(path, { mode: folderMode })
  }
}
