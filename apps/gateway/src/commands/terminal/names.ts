/** The commands that ask a running gateway, for the help of the program. */
export const terminalCommands = {
  top: 'watch functions, jobs and workers of a running gateway',
  jobs: 'list, show, trace, retry, cancel, delete, move and submit jobs',
  queues: 'list, pause, resume, empty and drop Faktory queues',
  functions: 'list, pause, resume, empty and drop functions, open or close them to consumers',
  workers: 'list the workers of a gateway',
  nodes: 'list the gateways on the store',
  scale: 'print the figures of a function that an autoscaler needs',
  cron: 'list, run, pause and resume cron jobs',
  batches: 'list Faktory batches, and show how far one is',
  audit: 'list who did what, and undo deletions of a day',
  reload: 'let a gateway read its settings again, as SIGHUP does',
  health: 'tell if a gateway answers and has its store',
} as const

export type TerminalCommand = keyof typeof terminalCommands

export function isTerminalCommand(word: string | undefined): word is TerminalCommand {
  return word !== undefined && Object.hasOwn(terminalCommands, word)
}
