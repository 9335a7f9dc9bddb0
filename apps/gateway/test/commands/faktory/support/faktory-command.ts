import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readWords } from '../../../../src/commands/faktory/program.ts'
import { settle } from '../../../../src/commands/faktory/settings.ts'
import { FwpClient } from '../../../doors/faktory/support/fwp-client.ts'
import { startGateway } from '../../../support/gateway-process.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

type Files = Readonly<Record<string, string>>

/** Writes files of a config folder: `conf.d/cron.toml`, `password`. */
export function writeFiles(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** A config folder that is gone after the test. */
export async function configFolder(files: Files = {}): Promise<string> {
  const folder = await temporaryFolder()
  writeFiles(folder, files)
  return folder
}

/** The settings with which the command starts a gateway. */
export function settings(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const given = readWords(words, { write: () => undefined })
  if (!given) throw new Error('no gateway starts')
  return settle(given, env).config
}

/** `crossgear faktory` in a process of its own, on a Redis, with free ports unless the words say which. */
export async function startFaktory(
  words: readonly string[],
  { env = {}, free = true }: { env?: Record<string, string>; free?: boolean } = {},
) {
  const ports = free ? ['-b', '127.0.0.1:0', '-w', '127.0.0.1:0'] : []
  const gateway = startGateway(['faktory', ...ports, ...words], {
    HOME: await temporaryFolder(),
    ...env,
  })
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  const port = async (name: 'faktory' | 'web') => (await gateway.ready).port(name)
  return {
    ...gateway,
    port,
    /** A client that is gone after the test. Throws where it is refused. */
    client: async (password?: string, wid = 'worker-1') => {
      const faktory = await port('faktory')
      const client = await (password === undefined
        ? FwpClient.greeted(faktory, { wid })
        : FwpClient.loggedIn(faktory, password, wid))
      onTestFinished(() => client.close())
      return client
    },
  }
}
