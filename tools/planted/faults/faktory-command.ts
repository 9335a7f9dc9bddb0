import type { FaultTable } from '../planted-fault.ts'

const refusals = 'apps/gateway/test/commands/faktory/refusals.test.ts'
const process = 'apps/gateway/test/commands/faktory/process.system.test.ts'

/** The Faktory server's options and files are obeyed, or refused by name. */
export const faults: FaultTable = {
  'production-without-password': {
    promise: 'Staging and production refuse to start without a password.',
    file: 'apps/gateway/src/commands/faktory/settings.ts',
    from: "const isDevelopment = environment === 'development'",
    to: "const isDevelopment = environment !== 'staging'",
    test: refusals,
  },
  'unknown-section-ignored': {
    promise: 'A section that cannot be obeyed is refused.',
    file: 'apps/gateway/src/commands/faktory/conf-files.ts',
    from: 'else throw unknownSection(section, value, file)',
    to: 'else unknownSection(section, value, file)',
    test: refusals,
  },
  'file-wins-over-variable': {
    promise: 'A variable wins over the files of conf.d.',
    file: 'apps/gateway/src/config/load-config.ts',
    from: '    if (env[variable]) return',
    to: '    if (env[variable] && !foreign?.values.has(name)) return',
    test: 'apps/gateway/test/commands/faktory/settings.test.ts',
    testName: 'bindings: an option wins over a variable, that over the file',
  },
  'web-port-of-two-hosts': {
    promise: 'The web port listens on its own address.',
    file: 'apps/gateway/src/config/load-config.ts',
    from: 'return webHost ?? host',
    to: 'return webHost === undefined ? host : host',
    test: process,
    testName: 'opens its two ports where -b and -w say, and no other',
  },
  'state-hidden-by-the-level': {
    promise: 'SIGTTIN prints the state whatever the level of the log is.',
    file: 'apps/gateway/src/server/state.ts',
    from: "log.child({}, { level: 'info' })",
    to: 'log.child({})',
    test: 'apps/gateway/test/operations/state-signal.system.test.ts',
    testName: 'a log of errors alone has it too',
  },
}
