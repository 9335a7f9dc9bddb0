import { randomBytes } from 'node:crypto'
import { chmod, link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { oneLine, StartError, systemCode } from '../errors.ts'

const FILE_NAME = 'store.password'
/** For the user of the gateway alone. */
const FILE_MODE = 0o600
const RANDOM_BYTES = 24
/** Needs no quotes in a configuration and no escapes in a URL. */
const FIT = /^[\w.~-]{8,512}$/

/**
 * The password of the store of a folder: what its file holds, or a random one, which is written there
 * for the next start.
 *
 * @throws StartError (code 1)
 */
export async function storePassword(folder: string): Promise<string> {
  const path = join(folder, FILE_NAME)
  try {
    const password = (await read(path)) ?? (await create(path))
    if (FIT.test(password)) return password
  } catch (error) {
    throw new StartError(
      `The password file ${path} cannot be used (${systemCode(error) || oneLine(error)}): correct or remove it.`,
      1,
      { cause: error },
    )
  }
  throw new StartError(
    `${path} holds no password for the store (8 to 512 of A-Z a-z 0-9 _ . ~ -): correct or remove it.`,
    1,
  )
}

async function read(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    await chmod(path, FILE_MODE)
    return text.trimEnd()
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Two gateways that start at once end up with one password: the link is made by the first alone. */
async function create(path: string): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  await writeFile(draft, `${randomBytes(RANDOM_BYTES).toString('hex')}\n`, {
    mode: FILE_MODE,
    flag: 'wx',
  })
  try {
    await link(draft, path).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error
    })
    return (await readFile(path, 'utf8')).trimEnd()
  } finally {
    await rm(draft, { force: true })
  }
}
