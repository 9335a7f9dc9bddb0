import { type CommandForm, flagOfRow, flagsOf } from '../../src/config/option-row.ts'
import {
  flagOf,
  keyOf,
  type OptionName,
  optionNames,
  optionRow,
  variablesOf,
} from '../../src/config/options.ts'
import { pushFields } from '../../src/config/push-route.ts'
import { exitCodes, type ExitName } from '../../src/commands/terminal/terminal-error.ts'
import { bold, example, italic, item, page, plain } from './roff.ts'
import { keyValues, sentence } from './text.ts'

/** The release that the pages describe. */
export interface Release {
  readonly version: string
  /** As `2026-01-31`. */
  readonly date: string
}

const pushKeys = Object.keys(pushFields)
  .filter((key) => key !== 'push')
  .join(', ')

const purpose =
  'job broker gateway: Gearman, Faktory and GearMonkey clients and workers share one set of Redis queues'

function groups(names: readonly OptionName[]): ReadonlyMap<string, readonly OptionName[]> {
  const found = new Map<string, readonly OptionName[]>()
  for (const name of names) {
    const { group } = optionRow(name)
    found.set(group, [...(found.get(group) ?? []), name])
  }
  return found
}

function defaultOf(name: OptionName): string {
  const { fallback, shownFallback } = optionRow(name)
  return `Default: ${shownFallback ?? String(fallback)}.`
}

function flagItem(name: OptionName): string {
  const { argument, help } = optionRow(name)
  const variables = variablesOf(name).join(', ')
  const key = keyOf(name)
  const elsewhere = `Variable: ${variables}.${key === null ? '' : ` Key: ${key}.`}`
  return item(`${bold(flagOf(name))} ${italic(argument)}`, [
    plain(sentence(help)),
    plain(`${defaultOf(name)} ${elsewhere}`),
  ])
}

function keyItem(name: OptionName): string {
  const { help, fallback } = optionRow(name)
  const usual = typeof fallback === 'boolean' ? `Default: ${fallback}.` : defaultOf(name)
  return item(bold(keyOf(name) ?? ''), [
    plain(sentence(help)),
    plain(`Takes ${keyValues(name)}. ${usual}`),
  ])
}

function inGroups(names: readonly OptionName[], write: (name: OptionName) => string): string[] {
  return [...groups(names)].flatMap(([group, ofGroup]) => [`.SS ${group}`, ...ofGroup.map(write)])
}

/** One command with its arguments and its own options. */
function commandItem(form: CommandForm): string {
  const { words, summary, arguments: taken = [], options = [] } = form
  const places = taken.map(({ name, isRequired, isMany }) => {
    const shown = italic(isMany ? `${name} ...` : name)
    return isRequired ? shown : `[${shown}]`
  })
  const own = options.filter((row) => !isCommon(flagOfRow(row)))
  const listed = own.map((row) => {
    const { argument, help } = row
    const names = flagsOf(row).map(bold).join(', ')
    return `${names}${argument === undefined ? '' : ` ${italic(argument)}`}: ${plain(help)}`
  })
  return item([bold(words.join(' ')), ...places].join(' '), [plain(sentence(summary)), ...listed])
}

const ofServe = new Set(optionNames.map(flagOf))

const exitTexts: Readonly<Record<ExitName, string>> = {
  done: 'Done.',
  usage: 'The command line is wrong.',
  unreachable: 'No gateway answers at the address.',
  refused: 'The password is missing or wrong, or does not suffice.',
  notFound: 'There is no such thing, or nothing matched.',
  failed: 'The gateway could not do it.',
  notConfirmed: 'The question was not answered with yes.',
  unhealthy: 'Of health: the gateway is not well.',
}
const exitNames = Object.keys(exitTexts) as ExitName[]

/** Every command has it, or it stands with the options of the gateway. */
function isCommon(flag: string): boolean {
  return flag === '--help' || ofServe.has(flag)
}

/** Commands that have pages, or a --help, of their own. */
const elsewhere: ReadonlySet<string> = new Set(['serve', 'gearmand'])

/** crossgear(1), from the commands and the option table. */
export function commandPage(commands: readonly CommandForm[], { version, date }: Release): string {
  return page({
    name: 'crossgear',
    section: 1,
    manual: 'User Commands',
    source: `Crossgear ${version}`,
    date,
    parts: [
      {
        title: 'NAME',
        text: [`crossgear, crossgear\\-gearmand, crossgear\\-faktory \\- ${plain(purpose)}`],
      },
      {
        title: 'SYNOPSIS',
        text: [
          `${bold('crossgear')} [${bold('serve')}] [${italic('options')}]`,
          '.br',
          `${bold('crossgear')} ${italic('command')} [${italic('options')}]`,
          '.br',
          `${bold('crossgear-gearmand')} [${italic("gearmand's options")}]`,
          '.br',
          `${bold('crossgear-faktory')} [${italic("Faktory's options")}]`,
        ],
      },
      {
        title: 'DESCRIPTION',
        text: [
          plain(
            'A job that enters by any port can be done by a worker at any other port. Jobs are in a Redis or Valkey, which any number of gateways share; without one the gateway starts a private one.',
          ),
          '.PP',
          plain(
            'Every option is also a variable of the environment and a key of the file that --config names. The command line wins over the environment, and that over the file.',
          ),
          '.PP',
          plain(
            'crossgear-gearmand is crossgear gearmand: it takes the options of gearmand. crossgear-faktory is crossgear faktory: it takes the options and files of the Faktory server.',
          ),
        ],
      },
      {
        title: 'COMMANDS',
        text: [
          item(bold('serve'), [plain('Runs the gateway. It is the default command.')]),
          item(`${bold('gearmand')} [${italic('options')}]`, [
            plain('Runs the gateway with the options of gearmand: see crossgear gearmand --help.'),
          ]),
          ...commands
            .filter(({ words: [first] }) => first !== undefined && !elsewhere.has(first))
            .map(commandItem),
        ],
      },
      { title: 'OPTIONS', text: inGroups(optionNames, flagItem) },
      {
        title: 'EXIT STATUS',
        text: [
          plain('Of the gateway:'),
          item('0', [plain('It ended in good order.')]),
          item('1', [plain('It failed; the last line says why.')]),
          item('2', [
            plain('A word of the command line, a variable or a key of the file cannot be used.'),
          ]),
          '.PP',
          plain('Of commands that ask a running gateway:'),
          ...exitNames.map((name) => item(String(exitCodes[name]), [plain(exitTexts[name])])),
          '.PP',
          plain('migrate, mirror, backup, restore and doctor name theirs in their --help.'),
        ],
      },
      {
        title: 'SIGNALS',
        text: [
          item('HUP', [
            plain(
              'Certificates, routes, passwords and other settings are read again; what takes a restart is logged.',
            ),
          ]),
          item('TERM, INT', [
            plain(
              'No more connections and jobs are taken; outcomes of running jobs are, for --drain-seconds.',
            ),
          ]),
        ],
      },
      {
        title: 'FILES',
        text: [
          item(italic('/etc/crossgear/crossgear.toml'), [
            plain('Settings of the service, where a package installed it: crossgear.toml(5).'),
          ]),
          item(italic('/var/lib/crossgear'), [plain('The private store of the service.')]),
          item(italic('./crossgear-data'), [plain('The private store otherwise.')]),
        ],
      },
      {
        title: 'EXAMPLES',
        text: [
          plain('A gateway with a store of its own, and one with a Redis that runs already:'),
          example(['crossgear', 'crossgear --redis-url redis://10.0.0.5:6379/2']),
        ],
      },
      {
        title: 'SEE ALSO',
        text: [`${bold('crossgear.toml')}(5), ${bold('gearmand')}(8), ${bold('redis-server')}(1)`],
      },
    ],
  })
}

/** crossgear.toml(5), from the option table. */
export function filePage({ version, date }: Release): string {
  const names = optionNames.filter((name) => keyOf(name) !== null)
  return page({
    name: 'crossgear.toml',
    section: 5,
    manual: 'File Formats',
    source: `Crossgear ${version}`,
    date,
    parts: [
      { title: 'NAME', text: [`crossgear.toml \\- ${plain('settings of the Crossgear gateway')}`] },
      {
        title: 'DESCRIPTION',
        text: [
          plain(
            'The file is TOML. crossgear reads it where --config or CROSSGEAR_CONFIG names it. An unknown key is refused, with the name that was probably meant.',
          ),
          '.PP',
          plain('A key with a dot, such as bridge.faktory, stands in a table of the first name.'),
        ],
      },
      { title: 'KEYS', text: inGroups(names, keyItem) },
      {
        title: 'FUNCTIONS',
        text: [
          plain('A table [routes.FUNCTION] has the settings of one function:'),
          item(bold('queue'), [
            plain('Its home queue: Faktory consumers of it get the jobs of the function.'),
          ]),
          item(bold('retries'), [plain('Tries after the first, whatever door a job came by.')]),
          item(bold('backoff'), [
            plain(
              'The wait before each try: faktory, linear, exponential, seconds, a list of seconds, or a table such as { exponential = 5, max = 600 }.',
            ),
          ]),
          item(bold('timeout'), [plain('Seconds of a run, before another worker gets the job.')]),
          item(bold('obey_retry_after'), [
            plain('true: the message of a failure may begin with "retry-after: N".'),
          ]),
          item(bold('retention_seconds'), [plain('How long a finished job stays readable.')]),
          item(bold('without_workers'), [
            plain('refuse: jobs are refused while no worker is there. accept: they wait.'),
          ]),
          item(bold('max_waiting'), [plain('Jobs are refused while so many wait.')]),
          item(bold('max_age'), [plain('Seconds after which a job is not run any more.')]),
          item(bold('max_age_action'), [plain('What becomes of it: dead or drop.')]),
          item(bold('payload'), [
            plain('How Faktory workers see a workload: auto, string, json or base64.'),
          ]),
          item(bold('concurrency'), [
            plain('The most jobs of it that run at a time, at all gateways together.'),
          ]),
          item(bold('rate'), [
            plain('The most jobs that are handed out in a second, minute, hour or day: 100/m.'),
          ]),
          item(bold('per'), [
            plain(
              'A path such as custom.tenant or args.0.tenant, or unique-prefix: and a separator: each value has its own share, and the values take turns.',
            ),
          ]),
          item(bold('on_death'), [
            plain(
              'A job that is pushed when a job dies: a table with jobtype and the fields of a Faktory job.',
            ),
          ]),
          item(bold('push'), [
            plain('The gateway posts the jobs to this URL, and the answer is their outcome.'),
            plain(`Its further keys are ${pushKeys}.`),
          ]),
          '.PP',
          plain(
            'Tables [[routes.FUNCTION.when]] give retries, backoff and timeout to some of its jobs: those of a level (high, normal, low or 1 to 9), or whose payload has a value (equals) at a path. The first that holds counts; there are 16 at most.',
          ),
        ],
      },
      {
        title: 'QUEUES',
        text: [
          plain('A table [throttles.QUEUE] limits one Faktory queue:'),
          item(bold('concurrency'), [plain('The most jobs of it that run at a time.')]),
          item(bold('worker'), [plain('The most that one worker runs at a time.')]),
          item(bold('timeout'), [plain('Seconds until a running job counts no more.')]),
          item(`${bold('rate')}, ${bold('seconds')}`, [
            plain('The most jobs that are handed out in so many seconds (1).'),
          ]),
        ],
      },
      {
        title: 'PEOPLE',
        text: [
          plain('A table [operators.NAME] is a person of the web port:'),
          item(bold('password_hash'), [plain('What crossgear password prints.')]),
          item(bold('role'), [plain('view, operate or admin.')]),
          item(bold('queues'), [
            plain('Globs of the functions and queues that the person may see and touch (all).'),
          ]),
        ],
      },
      {
        title: 'CRON',
        text: [
          plain(
            'Each [[cron]] has a schedule, perhaps a name and a timezone, and in [cron.job] the job that is pushed then.',
          ),
        ],
      },
      {
        title: 'EXAMPLE',
        text: [
          plain('Settings, and those of one function:'),
          example([
            'gearman_port = 4730',
            'redis_url = "unix:///run/redis/redis.sock"',
            '',
            '[routes.thumbnail]',
            'queue = "images"',
            'retries = 5',
          ]),
        ],
      },
      { title: 'SEE ALSO', text: [`${bold('crossgear')}(1)`] },
    ],
  })
}
