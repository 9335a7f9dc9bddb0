import { expect } from 'vitest'
import { type Config, type ConfigSources, loadConfig } from '../../src/config/load-config.ts'
import { StartError } from '../../src/errors.ts'
import { configFile } from './temporary-folder.ts'

/** Settings from these sources alone. */
export function load(sources: Partial<ConfigSources> = {}): Config {
  return loadConfig({ flags: {}, env: {}, ...sources })
}

/** Settings from a file of this text. */
export async function loadFile(text: string): Promise<Config> {
  return load({ flags: { config: await configFile(text) } })
}

/** The line with which a start is refused, with exit code 2. A file of settings is `FILE` in it. */
export async function refusal(work: () => unknown): Promise<string> {
  const error: unknown = await Promise.resolve()
    .then(work)
    .then(
      () => 'it was accepted',
      (reason: unknown) => reason,
    )
  if (!(error instanceof StartError)) throw error
  expect(error.exitCode).toBe(2)
  expect(error.message).not.toContain('\n')
  return error.message.replaceAll(/\/\S+\/crossgear\.toml/g, 'FILE')
}
