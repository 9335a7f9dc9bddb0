import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'crossgear-test-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A settings file of this text, which is gone after the test. */
export async function configFile(text: string): Promise<string> {
  const path = join(await temporaryFolder(), 'crossgear.toml')
  await writeFile(path, text)
  return path
}
