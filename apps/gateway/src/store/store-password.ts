import { randomBytes } from 'node:crypto'
import { chmod, link, readFile, rm, writeFile } from 'node:fs/promises'
import { oneLine, StartError, systemCode } from '../errors.ts'
import { isDiskFull } from './folder-failure.ts'

/** Readable only by the gateway's user. */
const fileMode = 0o600
const passwordBytes = 24
/** Needs no quotes in a configuration and no escapes in a URL. */
const fit = /^[\w.~-]{8,512}$/

/**
 * The password of a folder's store: from its file, or a random one, which is written there
 * for the next start.
 *
 * @throws StartError (code 1); the system's error if the disk is full
 */
export async function storePassword(path: string): Promise<string> {
  return await fitting(path, async () => (await read(path)) ?? (await create(path)))
}

/** The password in a file, which stays as it is. Throws as `storePassword`. */
export async function existingPassword(path: string): Promise<string> {
  return await fitting(path, async () => (await readFile(path, 'utf8')).trimEnd())
}

async function fitting(path: string, take: () => Promise<string>): Promise<string> {
  try {
    const password = await take()
    if (fit.test(password)) return password
  } catch (error) {
    if (isDiskFull(error)) throw error
    throw new StartError(
      `The password file ${path} cannot be used (${systemCode(error) || oneLine(error)}): correct or remove it.`,
      1,
      { cause: error },
    )
  }
  throw new StartError(
    `${path} has no valid password for the store (8 to 512 of A-Z a-z 0-9 _ . ~ -): correct or remove it.`,
    1,
  )
}

async function read(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    await chmod(path, fileMode)
    return text.trimEnd()
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Two gateways that start at once get one password: only the first makes the link. */
async function create(path: string): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    await writeFile(draft, `${randomBytes(passwordBytes).toString('hex')}\n`, {
      mode: fileMode,
      flag: 'wx',
    })
    await link(draft, path).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error
    })
    return (await readFile(path, 'utf8')).trimEnd()
  } finally {
    await rm(draft, { force: true })
  }
}
