import { inGroup, oneOf, optional, text, yesNo } from './value-kinds.ts'

/** Log, tracing and the file of settings. */
export const outputOptions = inGroup('Output', {
  logLevel: {
    ...oneOf('level', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    help: 'lowest level that is logged: trace, debug, info, warn, error, fatal or silent',
    reloads: true,
  },
  logFormat: {
    ...oneOf('format', ['auto', 'text', 'json'], 'auto'),
    help: 'form of the log: text, json (a line each), or auto: text on a terminal, else json',
  },
  tracing: {
    ...yesNo,
    help: 'trace jobs with OpenTelemetry, whose SDK NODE_OPTIONS loads (docs/operate/tracing.md)',
  },
  config: {
    ...optional('file', text('the path of a TOML file')),
    help: 'TOML file with any of these settings, and with routes',
    key: null,
  },
})
