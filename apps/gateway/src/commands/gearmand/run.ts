import type { Config } from '../../config/load-config.ts'
import { oneLine, StartError } from '../../errors.ts'
import { gearmandVersions } from '../../doors/gearman/gearmand-version.ts'
import type { Reread } from '../../server/reload.ts'
import { detach, isDetached, report, switchUser, writePidFile } from './daemon.ts'
import { LogFile, logLevelOf, type Verbosity } from './log-file.ts'
import { helpText } from './option-table.ts'
import { findOption, type Given, parseWords, usageError } from './parse-words.ts'
import { inGearmandWords, type Settings, settle } from './settings.ts'
import { readFileSync } from 'node:fs'

/** Fallback of PATH. */
const searchedFolders = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** gearmand's exit code whenever it does not run. */
const failed = 1

export interface GearmandCommand {
  readonly version: string
  readonly env: NodeJS.ProcessEnv
}

/** Runs the gateway with gearmand's options; returns the exit code. */
export async function runGearmand(
  words: readonly string[],
  { version, env }: GearmandCommand,
): Promise<number> {
  try {
    const given = readWords(words)
    if (given.has('help')) return print(helpText())
    if (given.has('version')) return print(versionText(given, version))
    if (given.has('check-args')) {
      settle(given, env)
      return 0
    }
    if (given.has('daemon') && !isDetached()) {
      settle(given, env)
      await detach(env)
      return 0
    }
    return await serveAsGearmand(given, words, { version, env })
  } catch (error) {
    const problem =
      error instanceof StartError ? error.message : `Internal error: ${oneLine(error)}`
    const line = inGearmandWords(problem)
    process.stderr.write(`gearmand: ${line}\n`)
    await report({ failure: line })
    return failed
  }
}

/** `@file` is `--config-file file`. */
function readWords(words: readonly string[]): Given {
  const file = words.findLast((word) => word.startsWith('@'))
  const given = parseWords(words.filter((word) => !word.startsWith('@')))
  return withConfigFile(given, given.get('config-file') ?? file?.slice(1))
}

async function serveAsGearmand(
  given: Given,
  words: readonly string[],
  { version, env }: GearmandCommand,
): Promise<number> {
  process.title = 'gearmand'
  const user = given.get('user')
  if (user !== undefined) switchUser(user)
  const settings = settle(given, env)
  const reread = (): Reread => rereadAsGearmand(settings, words, env)
  const logFile = new LogFile(given.get('log-file'))
  process.on('SIGHUP', () => logFile.reopen())
  const pidFile = writePidFile(given.get('pid-file'))
  try {
    return await serveLogged(settings, logFile, { version, env, reread })
  } catch (error) {
    pidFile.putBack()
    throw error
  } finally {
    pidFile.remove()
  }
}

async function serveLogged(
  { config, verbosity, notes }: Settings,
  logFile: LogFile,
  { version, env, reread }: GearmandCommand & { readonly reread: () => Reread },
): Promise<number> {
  const level = logLevelOf(verbosity)
  const log = logFile.logger(level)
  for (const note of notes) logFile.notice(note)
  try {
    const { serve } = await import('../../server/serve.ts')
    return await serve(withLevel(config, verbosity), version, {
      log,
      env,
      reread,
      verbosity,
      searchPath: env['PATH'] || searchedFolders,
      ready: ({ doors, store }) => {
        log.info(`Starting up with pid ${process.pid}, verbose is set to ${verbosity}`)
        log.info(`Jobs are kept in ${store.describe}.`)
        for (const { name, host, port } of doors) log.info(`Listening on ${host}:${port} (${name})`)
        void report(logFile.problem === undefined ? {} : { warning: logFile.problem })
      },
    })
  } catch (error) {
    log.error(inGearmandWords(oneLine(error)))
    throw error
  }
}

/** The settings as the same words, and the files that they name, say now. */
function rereadAsGearmand(
  running: Settings,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Reread {
  const { config, verbosity } = settle(readWords(words), env)
  return {
    config: withLevel(config, running.verbosity),
    fixed: verbosity === running.verbosity ? [] : ['--verbose'],
  }
}

/** gearmand's --verbose says what is logged. */
function withLevel(config: Config, verbosity: Verbosity): Config {
  return { ...config, logLevel: logLevelOf(verbosity) }
}

function versionText(given: Given, version: string): string {
  const { number } = gearmandVersions[given.get('gearmand-version') === '2.0' ? '2.0' : '1.1']
  return `\ngearmand ${number} - Crossgear ${version}\n`
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

const usualPath = '/etc/gearmand.conf'
const keyAndValue = /^([a-z][a-z0-9-]*)\s*=\s*(.*)$/

/**
 * Adds the file's options to those of the command line, which win. Without a path the usual file
 * is read, if there is one.
 *
 * @throws StartError (code 1)
 */
function withConfigFile(given: Given, path: string | undefined): Given {
  let text: string
  try {
    text = readFileSync(path ?? usualPath, 'utf8')
  } catch {
    if (path === undefined) return given
    throw usageError('Could not open configuration file.')
  }
  return new Map([...parseConfigText(text), ...given])
}

/**
 * Options as on the command line, several to a line if need be, or lines of `name = value`. Lines
 * that begin with `#` are comments; other words are ignored, as by gearmand.
 */
export function parseConfigText(text: string): Given {
  const words = text.split('\n').flatMap((line) => wordsOf(line.trim()))
  return parseWords(words, { stray: () => undefined })
}

function wordsOf(line: string): readonly string[] {
  if (line.startsWith('#')) return []
  const [, name = '', value = ''] = keyAndValue.exec(line) ?? []
  const option = findOption(name)
  if (!option) return line.split(/\s+/).filter((word) => word !== '')
  if (option.argument !== undefined) return [`--${name}=${value}`]
  return ['', 'no', 'false', '0', 'off'].includes(value) ? [] : [`--${name}`]
}
