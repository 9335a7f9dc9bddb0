import { type HelpOutput, readForm } from '../cli/command-parser.ts'
import type { CommandForm } from '../../config/option-row.ts'
import { StartError } from '../../errors.ts'

/** The options as given, by their letters. */
export interface Given extends Readonly<
  Partial<Record<'b' | 'w' | 'e' | 'l' | 'd' | 'c', string>>
> {
  readonly v?: true
  /** Words behind the first one that is no option: the server reads none of them. */
  readonly ignored?: readonly string[]
}

/** The guide for moving from the Faktory server. */
export const movingGuide = 'docs/migrate/from-faktory.md'

export const environments: readonly string[] = ['development', 'staging', 'production']
const levels = ['error', 'warn', 'info', 'debug', 'verbose']

const helpAfter = `
Files: conf.d/*.toml of the config folder are read in the order of their names,
and joined:

  [faktory]          binding = "0.0.0.0:7419"
                     password = "secret", or the path of a file that holds it
  [web]              binding = "0.0.0.0:7420"
                     password, where it is not that of [faktory]
  [[cron]]           schedule = "*/5 * * * *", and [cron.job] with type, queue,
                     args, retry and [cron.job.custom]
  [throttles.QUEUE]  concurrency, worker, timeout, rate, seconds

Any other section or key is refused, with what to do instead. The config folder
may also have public.cert.pem and private.key.pem, with which both ports speak
TLS, and in staging and production a file named password.

Environment: FAKTORY_ENV (-e wins), FAKTORY_PASSWORD (wins over the files; /path
names a file), FAKTORY_WEBUI_PASSWORD, and FAKTORY_SKIP_PASSWORD=yes for staging
and production without a password. Options win over the environment, and that
over the files. All else is set by CROSSGEAR_* variables, such as
CROSSGEAR_REDIS_URL for a Redis of your own and CROSSGEAR_GEARMAN_PORT for the
Gearman port, which is off: see crossgear --help.

Signals: TERM and INT end it. HUP reads the files again: cron entries,
throttles, passwords and certificates change at once. TTIN prints its state into
the log. TSTP suspends it until CONT.

Examples:
  crossgear faktory                  this machine alone, jobs in ~/.faktory/db
  crossgear faktory -b :7419 -w :7420 -e production
                                     as in a container
`

/** The options of the Faktory server. */
export const faktoryForm: CommandForm = {
  words: ['faktory'],
  summary: "Runs the gateway with the Faktory server's own options and files.",
  options: [
    {
      name: 'b',
      argument: 'binding',
      help: 'address of the Faktory port, [host]:port; :7419 is every address of the machine (default: localhost:7419)',
    },
    {
      name: 'w',
      argument: 'binding',
      help: 'address of the web port; :0 closes it (default: localhost:7420)',
    },
    {
      name: 'e',
      argument: 'environment',
      choices: environments,
      help: 'only development needs no password (default: development)',
    },
    {
      name: 'l',
      argument: 'level',
      choices: levels,
      help: 'lowest level that is logged; verbose is debug (default: info)',
    },
    {
      name: 'd',
      argument: 'path',
      help: 'storage folder: jobs are in its folder crossgear (default: /var/lib/faktory/db, in development ~/.faktory/db)',
    },
    {
      name: 'c',
      argument: 'path',
      help: 'config folder (default: /etc/faktory, in development ~/.faktory)',
    },
    { name: 'v', help: 'print the version' },
  ],
  helpAfter,
}

/** The server takes one dash or two before a letter, and its value also behind a sign `=`. */
const letterAndValue = /^--?([bweldcvh])(?:=(.*))?$/s

/**
 * Parses the words; undefined if only help was asked for.
 *
 * @throws StartError (code 2)
 */
export function readWords(words: readonly string[], out: HelpOutput): Given | undefined {
  const plain = words.flatMap((word) => {
    const [, letter, value] = letterAndValue.exec(word === '-help' ? '--help' : word) ?? []
    if (letter === undefined) return word === '-help' ? '--help' : word
    return [`-${letter}`, ...(value === undefined ? [] : [value])]
  })
  const end = endOfOptions(plain)
  const refusal = (line: string, cause: ErrorOptions) => new StartError(line, 2, cause)
  const given = readForm(faktoryForm, plain.slice(0, end), out, refusal)
  if (given === undefined || end === plain.length) return given
  return { ...given, ignored: plain.slice(end) }
}

/** Index of the first word that is neither an option nor its value: the server reads no further. */
function endOfOptions(words: readonly string[]): number {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (!word.startsWith('-') || word === '-' || word === '--') return at
    const row = faktoryForm.options?.find(({ name }) => word === `-${name}`)
    if (row?.argument !== undefined) at += 1
  }
  return words.length
}
