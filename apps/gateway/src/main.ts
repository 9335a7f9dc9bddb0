import { runCommandLine } from './cli/program.ts'
import { readVersion } from './cli/version.ts'
import { runGearmand } from './gearmand/run.ts'
import { serve } from './lifecycle/serve.ts'
import { oneLine, StartError } from './lifecycle/start-error.ts'

const INTERNAL_ERROR = 1

async function main(): Promise<number> {
  const version = readVersion()
  const [command, ...words] = process.argv.slice(2)
  if (command === 'gearmand') return await runGearmand(words, { version, env: process.env })
  try {
    return await runCommandLine(process.argv.slice(2), {
      version,
      env: process.env,
      serve: (config) => serve(config, version),
    })
  } catch (error) {
    const known = error instanceof StartError
    const advice = 'run with --log-level debug to see where it came from.'
    const line = known ? error.message : `Internal error (${oneLine(error)}): ${advice}`
    process.stderr.write(`${line}\n`)
    return known ? error.exitCode : INTERNAL_ERROR
  }
}

process.exit(await main())
