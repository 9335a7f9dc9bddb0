import { runCommandLine } from '../../../src/cli/program.ts'
import { serve } from '../../../src/server/serve.ts'

const version = '0.0.0'

// The gateway, which does not wait for half a minute until it ends a process that stands still.
process.exit(
  await runCommandLine(process.argv.slice(2), {
    ...{ version, env: process.env, print: () => undefined },
    serve: (config) => serve(config, version, { aliveEveryMs: 300, env: process.env }),
  }),
)
