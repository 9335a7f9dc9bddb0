import { oneOf, optional, row, text, yesNo } from './value-kinds.ts'

/** Log, tracing and the file of settings. */
export const outputOptions = {
  logLevel: row({
    group: 'Output',
    argument: 'level',
    help: 'lowest level that is logged: trace, debug, info, warn, error, fatal or silent',
    value: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    fallback: 'info',
    reloads: true,
  }),
  logFormat: row({
    group: 'Output',
    argument: 'format',
    help: 'form of the log: text, json (a line each), or auto: text on a terminal, else json',
    value: oneOf(['auto', 'text', 'json']),
    fallback: 'auto',
  }),
  tracing: row({
    group: 'Output',
    argument: 'yes|no',
    help: 'trace jobs with OpenTelemetry, whose SDK NODE_OPTIONS loads (docs/operate/tracing.md)',
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  }),
  config: row({
    group: 'Output',
    argument: 'file',
    help: 'TOML file with any of these settings, and with routes',
    value: optional(text('the path of a TOML file')),
    fallback: undefined,
    shownFallback: 'none',
    key: null,
  }),
}
