import { keyOf, type OptionName, optionNames, optionRow } from '../../src/config/options.ts'
import { keyValues, sentence, wrap } from './text.ts'

const columns = 100

/** Settings that a package gives another default: they stand in its file without a comment sign. */
export type Preset = Readonly<Partial<Record<OptionName, string>>>

interface Line {
  /** The table that the key stands in; empty: none. */
  readonly table: string
  readonly text: string
}

/** TOML of a default. One that is computed, or none, has no value: whoever removes the sign gives one. */
function defaultOf(name: OptionName): string {
  const { fallback, shownFallback } = optionRow(name)
  if (typeof fallback === 'boolean') return ` ${fallback}`
  if (shownFallback !== undefined || fallback === undefined) return ''
  return ` ${JSON.stringify(fallback)}`
}

function describe(name: OptionName, preset: Preset): Line | undefined {
  const key = keyOf(name)
  if (key === null) return undefined
  const { help, shownFallback } = optionRow(name)
  const [table, own] = key.includes('.') ? (key.split('.') as [string, string]) : ['', key]
  const comments = [
    sentence(help),
    `Takes ${keyValues(name)}.`,
    ...(defaultOf(name) === '' ? [`Default: ${shownFallback ?? 'none'}.`] : []),
  ]
  const given = preset[name]
  const setting =
    given === undefined ? `#${own} =${defaultOf(name)}` : `${own} = ${JSON.stringify(given)}`
  const lines = comments.flatMap((comment) => wrap(comment, columns - 2).map((one) => `# ${one}`))
  return { table, text: [...lines, setting].join('\n') }
}

const opening = `# Settings of Crossgear. A line with a comment sign before its key shows the default.
# The command line and the environment (CROSSGEAR_...) win over this file. See crossgear.toml(5).`

const closing = `# Settings of one function. All keys are optional.
#[routes.mail]
#queue = "bulk"            # its home queue: Faktory consumers of it get the jobs
#retries = 3               # tries after the first, whatever door a job came by
#retention_seconds = 3600  # how long a finished job stays readable
#payload = "auto"          # workload to args: auto, string, json or base64
#concurrency = 4           # so many of its jobs run at a time, at all gateways
#rate = "100/m"            # so many start in a second, minute, hour or day (smhd)
#per = "custom.tenant"     # each value of it has its own share, and they take turns
#on_death = { jobtype = "report" }     # pushed when a job dies
#push = "https://a.b/run"  # its jobs are posted to this URL
#push_concurrency = 10     # requests at a time
#without_workers = "accept" # or refuse: say no where no worker is there
#max_waiting = 1000        # say no while so many jobs wait
#max_age = 3600            # seconds after which a job is not run any more
#max_age_action = "dead"   # or drop: what becomes of it
#backoff = "faktory"       # or seconds, [5, 60], { exponential = 5 }
#timeout = 60              # seconds of a run: another worker gets it then
#obey_retry_after = false  # true: an exception may say "retry-after: 9"
#[[routes.mail.when]]      # up to 16 rules for some of its jobs, the first that holds
#level = "high"            # or path = "customer.plan" with equals = "gold"
#retries = 5               # also backoff and timeout

# The most jobs of a Faktory queue that run at a time.
#[throttles.bulk]
#concurrency = 4

# A person of the web port: crossgear password makes the hash.
#[operators.alice]
#password_hash = "scrypt:15:8:3:AAAAAAAAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#role = "operate"          # view, operate or admin
#queues = ["mail*"]        # functions and queues; all without it

# A job that the clock pushes.
#[[cron]]
#schedule = "0 6 * * *"
#[cron.job]
#type = "report"
#args = []
`

/** The configuration file with every option in it, at its default. */
export function exampleFile(preset: Preset = {}): string {
  const groups = new Map<string, string[]>()
  for (const name of optionNames) {
    const line = describe(name, preset)
    if (!line) continue
    const { table, text } = line
    // Keys of a table come after all that stand in none.
    const heading = table === '' ? `## ${optionRow(name).group}` : `#[${table}]`
    groups.set(heading, [...(groups.get(heading) ?? []), text])
  }
  const parts = [...groups].sort(
    ([a], [b]) => Number(a.startsWith('#[')) - Number(b.startsWith('#[')),
  )
  const text = parts.map(([heading, lines]) => [heading, ...lines].join('\n\n'))
  return [opening, ...text, closing].join('\n\n')
}
