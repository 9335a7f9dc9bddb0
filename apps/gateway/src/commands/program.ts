import { Command, CommanderError, Help } from 'commander'
import { type Config, type ConfigSources, loadConfig } from '../config/load-config.ts'
import type { CommandForm } from '../config/option-row.ts'
import { optionNames, settingOption } from '../config/options.ts'
import { refuseRemoved } from '../config/removed-options.ts'
import { StartError } from '../errors.ts'
import { explained, unknownInHelp, withForm } from './cli/command-parser.ts'
import { formatItem, helpWidth } from './cli/help-layout.ts'
import { completionForm, completionName } from './completion/names.ts'
import { terminalCommands } from './terminal/names.ts'
import { versionLine } from './cli/version.ts'

export interface CommandLine {
  readonly version: string
  readonly env: ConfigSources['env']
  /** Runs the gateway and returns the exit code. `reread` reads the configuration again. */
  readonly serve: (config: Config, reread: () => Config) => Promise<number>
}

const helpAfter = `
Every option can also be given in the environment (--gearman-port is
CROSSGEAR_GEARMAN_PORT) and in the file (gearman_port = 4730). The command line
wins over the environment, and that over the file. A function's own settings are
in the file alone; every key may be left out:

  [routes.mail]
  queue = "bulk"            # Faktory consumers of this queue get the jobs
  retries = 3               # tries after the first, whatever door a job came by
  retention_seconds = 3600  # how long a finished job stays readable
  payload = "auto"          # workload to args: auto, string, json or base64
  on_death = { jobtype = "report" }     # pushed when a job dies
  concurrency = 4           # so many of its jobs run at a time, at all gateways
  rate = "100/m"            # so many start in a second (s), m, h or d
  per = "custom.tenant"     # each value has its own share, and they take turns
  push = "https://a.b/run"  # its jobs are posted to this URL
  without_workers = "accept" # or refuse: say no where no worker is there
  max_waiting = 1000        # say no while so many jobs wait
  max_age = 3600            # seconds after which a job is not run any more
  max_age_action = "dead"   # or drop: what becomes of it
  backoff = "faktory"       # or seconds, [5, 60], { exponential = 5 }
  timeout = 60              # seconds of a run: another worker gets it then
  obey_retry_after = false  # true: an exception may say "retry-after: 9"

  [[routes.mail.when]]      # up to 16 rules for some jobs, the first that holds
  level = "high"            # or path = "customer.plan" with equals = "gold"
  retries = 5               # also backoff and timeout

Examples:
  crossgear                              a private store in ./crossgear-data
  crossgear --redis-url redis://10.0.0.5:6379/2
                                         a Redis that runs already
  crossgear gearmand -d -P /run/gearmand.pid
                                         with gearmand's own options
  crossgear faktory -b :7419 -w :7420 -e production
                                         with the Faktory server's own options
`

/**
 * Runs a command line and returns the exit code.
 *
 * @throws StartError
 */
export async function runCommandLine(
  words: readonly string[],
  { version, env, serve }: CommandLine,
): Promise<number> {
  let exitCode = 0
  const program = createProgram(version, async (flags) => {
    const read = (): Config => loadConfig({ flags, env })
    exitCode = await serve(read(), read)
  })
  const unknown = unknownInHelp(program, words)
  if (unknown !== undefined) throw noSuchCommand(unknown)
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw refusalOf(error, program)
  }
  return exitCode
}

/** Commands for the help text alone: their own parsers read the words. */
const ownParsers = [
  ['gearmand', "[gearmand's options]", "run the gateway with gearmand's own options"],
  [
    'faktory',
    "[Faktory's options]",
    "run the gateway with the Faktory server's own options and files",
  ],
  ['migrate', '<command> [options]', 'move queues of other systems into the store'],
  ['mirror', '[options]', 'submit copies of jobs to a second server'],
  ['backup', '--to <file> [options]', 'write all jobs and settings of a store into a file'],
  ['restore', '--from <file> [options]', 'restore a backup'],
  ['doctor', '[options]', 'examine a store and say what to do'],
  ['password', '', 'make the hash of a password, for a person of the configuration file'],
] as const

export const programSummary =
  'A job broker gateway: Gearman, Faktory and GearMonkey clients and workers share one set of Redis queues.'

export const serveForm: CommandForm = {
  words: ['serve'],
  summary: 'run the gateway (the default command)',
  options: optionNames.map(settingOption),
  helpAfter,
}

/** The parser of the program and of `serve`, its default. */
export function createProgram(
  version: string,
  serve: (flags: ConfigSources['flags']) => Promise<void>,
): Command {
  const program = new Command('crossgear')
    .description(programSummary)
    .version(versionLine(version))
    .usage('[serve] [options]')
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .addHelpText('after', helpAfter)
  const serveCommand = withForm(program.command('serve', { isDefault: true }), serveForm)
    .usage('[options]')
    .allowExcessArguments(false)
    .action(serve)
  // For the help text only: see terminal/program.ts.
  for (const [name, summary] of Object.entries(terminalCommands)) {
    program.command(name).description(summary)
  }
  program.command(completionName).description(completionForm.summary)
  for (const [name, usage, description] of ownParsers) {
    program.command(name).usage(usage).description(`${description}: see crossgear ${name} --help`)
  }
  // `crossgear --help` shows the default command's options.
  const help = new Help()
  const layout = { formatItem, helpWidth: helpWidth() }
  serveCommand.configureHelp(layout)
  program.configureHelp({
    ...layout,
    visibleOptions: (command) => [
      ...(command === program ? serveCommand.options : []),
      ...help.visibleOptions(command),
    ],
  })
  return program
}

function refusalOf(error: CommanderError, program: Command): StartError {
  if (error.code === 'commander.excessArguments') {
    // Words that are no option and no value of one, of the command that has taken them.
    const stray = program.commands.flatMap(({ args }) => args)
    return noSuchCommand(stray.join(' '))
  }
  const [flag, name = ''] = /--([\w-]+)/.exec(error.message) ?? []
  if (flag !== undefined) refuseRemoved(name.replaceAll('-', '_'), flag)
  return new StartError(`${explained(error)}: see crossgear --help.`, 2, { cause: error })
}

/** Ends as a wrong command line does at all commands: with 2 they say that what they ask does not answer. */
function noSuchCommand(words: string): StartError {
  return new StartError(`There is no such command or argument (${words}): see crossgear --help.`, 1)
}
