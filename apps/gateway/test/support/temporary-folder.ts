import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that is gone after the test, and with it the private store of a killed gateway: by design it outlives that. */
export async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'crossgear-test-'))
  onTestFinished(async () => {
    for (const pid of await storesIn(path)) process.kill(pid, 'SIGKILL')
    await rm(path, { recursive: true, force: true })
  })
  return path
}

/** Redis servers that work in a folder; none where the system does not tell. */
async function storesIn(folder: string): Promise<readonly number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc').catch(() => [])) {
    const place = await readlink(`/proc/${name}/cwd`).catch(() => '')
    if (place !== folder && !place.startsWith(`${folder}/`)) continue
    const program = await readlink(`/proc/${name}/exe`).catch(() => '')
    if (/\/(redis|valkey)-[\w-]+$/.test(program)) found.push(Number(name))
  }
  return found
}

/** A settings file of this text, which is gone after the test. */
export async function configFile(text: string): Promise<string> {
  const path = join(await temporaryFolder(), 'crossgear.toml')
  await writeFile(path, text)
  return path
}
