import { faktoryVersion } from '../../doors/faktory/faktory-version.ts'
import type { HelpOutput } from '../cli/command-parser.ts'
import type { Config, ConfigSources } from '../../config/load-config.ts'
import { inWordsOf, type OptionName } from '../../config/options.ts'
import { StartError } from '../../errors.ts'
import type { Reread } from '../../server/reload.ts'
import { readWords } from './program.ts'
import { settle } from './settings.ts'

export interface FaktoryCommand {
  readonly version: string
  readonly env: ConfigSources['env']
  readonly out: HelpOutput
  /** Runs the gateway and returns the exit code. `notes`: lines for its log. */
  readonly serve: (
    config: Config,
    ways: { readonly reread: () => Reread; readonly notes: readonly string[] },
  ) => Promise<number>
}

/** The command's own words for options of the gateway. */
const ownWords: ReadonlyMap<OptionName, string> = new Map([
  ['faktoryPort', '-b'],
  ['host', '-b'],
  ['webPort', '-w'],
  ['webHost', '-w'],
  ['dataDir', '-d'],
  ['logLevel', '-l'],
])

/**
 * Runs the gateway with the Faktory server's options; returns the exit code.
 *
 * @throws StartError
 */
export async function runFaktory(
  words: readonly string[],
  { version, env, out, serve }: FaktoryCommand,
): Promise<number> {
  try {
    const given = readWords(words, out)
    if (!given) return 0
    if (given.v) {
      out.write(`Faktory ${faktoryVersion} - Crossgear ${version}\n`)
      return 0
    }
    process.title = 'faktory'
    const { config, notes } = settle(given, env)
    return await serve(config, { notes, reread: () => ({ config: settle(given, env).config }) })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    throw new StartError(inWordsOf(error.message, ownWords), error.exitCode, { cause: error })
  }
}
