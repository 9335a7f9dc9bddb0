import { setTimeout as delay } from 'node:timers/promises'
import { completionName } from './commands/completion/names.ts'
import { guardOutput } from './commands/cli/guarded-output.ts'
import { runCommandLine } from './commands/program.ts'
import { readVersion } from './commands/cli/version.ts'
import { isTerminalCommand } from './commands/terminal/names.ts'
import { oneLine, StartError } from './errors.ts'
import type { Config } from './config/load-config.ts'
import type { ServeWays } from './server/open.ts'

const internalError = 1
/** Time for the last output of a gateway, milliseconds. Other commands wait for whoever reads theirs. */
const gatewayOutputMs = 1_000

async function main(): Promise<number> {
  const version = readVersion()
  const given = askingHelp(process.argv.slice(2))
  const [command, ...words] = given
  const own = command !== undefined && Object.hasOwn(ownCommands, command)
  if (own) return (await ownCommands[command]?.(words, version)) ?? internalError
  try {
    if (command === 'faktory') return await faktory(words, version)
    if (isTerminalCommand(command)) return await terminal([command, ...words])
    return await runCommandLine(given, {
      version,
      env: process.env,
      serve: (config, reread) => serve(config, version, { reread: () => ({ config: reread() }) }),
    })
  } catch (error) {
    const known = error instanceof StartError
    const advice = 'run with --log-level debug for details.'
    const line = known ? error.message : `Internal error (${oneLine(error)}): ${advice}`
    process.stderr.write(`${line}\n`)
    return known ? error.exitCode : internalError
  }
}

/** `help jobs list` is `jobs list --help`: most commands have a parser of their own. */
function askingHelp(words: readonly string[]): readonly string[] {
  const [first, ...command] = words
  return first === 'help' && command.length > 0 ? [...command, '--help'] : words
}

// Each command loads its modules on demand: help and a wrong option are answered without them.

async function serve(config: Config, version: string, ways: ServeWays): Promise<number> {
  releaseOutput()
  const server = await import('./server/serve.ts')
  return await gatewayEnd(await server.serve(config, version, { env: process.env, ...ways }))
}

async function faktory(words: readonly string[], version: string): Promise<number> {
  const { runFaktory } = await import('./commands/faktory/run.ts')
  const { env, stdout: out } = process
  return await runFaktory(words, {
    version,
    env,
    out,
    serve: (config, ways) => serve(config, version, ways),
  })
}

/** Ends a gateway, also where nobody reads its output. */
async function gatewayEnd(code: number): Promise<never> {
  await Promise.race([allWritten(), delay(gatewayOutputMs)])
  process.exit(code)
}

/** The streams and variables of this process, as they are now: output may be guarded. */
function surroundings() {
  const { env, stdin, stdout, stderr } = process
  return { env, stdin, stdout, stderr }
}

type OwnCommand = (words: readonly string[], version: string) => Promise<number>

function backup(act: 'backup' | 'restore'): OwnCommand {
  return async (words) => {
    const { runBackup } = await import('./commands/backup/run-backup.ts')
    return await runBackup(act, words, { ...surroundings(), signal: stopSignal() })
  }
}

/** Commands that print their own errors. */
const ownCommands: Readonly<Record<string, OwnCommand>> = {
  backup: backup('backup'),
  restore: backup('restore'),
  gearmand: async (words, version) => {
    const { runGearmand } = await import('./commands/gearmand/run.ts')
    return await gatewayEnd(await runGearmand(words, { version, env: process.env }))
  },
  migrate: async (words) => {
    const { runMigrate } = await import('./commands/migrate/run-migrate.ts')
    return await runMigrate(words, { ...surroundings(), signal: stopSignal() })
  },
  mirror: async (words) => {
    const { runMirror } = await import('./commands/mirror/run-mirror.ts')
    return await runMirror(words, { ...surroundings(), signal: stopSignal() })
  },
  doctor: async (words) => {
    const { runDoctor } = await import('./commands/doctor/run-doctor.ts')
    return await runDoctor(words, surroundings())
  },
  password: async (words) => {
    const { runPassword } = await import('./commands/password/run-password.ts')
    return await runPassword(words, surroundings())
  },
  [completionName]: async (words) => {
    const { runCompletion } = await import('./commands/completion/run-completion.ts')
    return runCompletion(words, process)
  },
}

async function terminal(words: readonly string[]): Promise<number> {
  const { runTerminal } = await import('./commands/terminal/run-terminal.ts')
  return await runTerminal(words, { ...surroundings(), stopSignal })
}

/** A signal ends the work in good order, a second one at once. */
function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}

/** Waits for what is left of the output: a pipe takes 64 KiB at a time, and an exit drops the rest. */
async function written(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((resolve) => {
    // The reader, such as head, has read enough.
    stream.on('error', () => resolve())
    stream.write('', () => resolve())
  })
}

async function allWritten(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(written))
}

/** Half of their work is none: a reader that goes away leaves it undone. */
const works: readonly (string | undefined)[] = ['backup', 'restore', 'migrate', 'mirror']
const releaseOutput = guardOutput(process, works.includes(process.argv[2]) ? 4 : 0)
void main().then(async (code) => {
  await allWritten()
  process.exit(code)
})
