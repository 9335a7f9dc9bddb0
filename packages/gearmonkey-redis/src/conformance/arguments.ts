import { parseArgs } from 'node:util'

export const usage = `gearmonkey-conformance --redis-url URL --client-command COMMAND [--cases LIST]
gearmonkey-conformance --redis-url URL --worker-function FN [--worker-command COMMAND] [--fail-input TEXT]

Watches an implementation of GearMonkey through MONITOR and says which MUST of the protocol fails.

  --redis-url URL          redis://, rediss:// or unix:// of a Redis that nobody else uses meanwhile
  --client-command COMMAND a shell command that submits one job: its input is on standard input, the
                           rest in GEARMONKEY_REDIS_URL, GEARMONKEY_FN, GEARMONKEY_PRIO (high, normal,
                           low, scheduled), GEARMONKEY_SCHEDULED (Unix time or empty),
                           GEARMONKEY_ROLLCALL and GEARMONKEY_BLOCKING (1 or empty),
                           GEARMONKEY_TIMEOUT (seconds). It prints the id; it fails if a roll call does.
  --cases LIST             of high,normal,low,scheduled,rollcall,blocking; default all
  --worker-function FN     the function that a worker accepts
  --worker-command COMMAND a shell command that runs the worker, with GEARMONKEY_REDIS_URL and
                           GEARMONKEY_FN; it is ended by SIGTERM. Without it a worker must be running.
  --fail-input TEXT        an input for which the worker's function raises an error
  --timeout-seconds N      how long to wait for each thing; default 10

The script of the protocol has two spaces in { KEYS[1],  item[1] }; many copies of the text have lost one, and
then its SHA-1 is another.

Exit code: 0 all hold, 1 some fail, 2 wrong use or no server.
`

const clientCases = ['high', 'normal', 'low', 'scheduled', 'rollcall', 'blocking'] as const
export type ClientCase = (typeof clientCases)[number]

interface CommonArguments {
  readonly redisUrl: string
  readonly timeoutMs: number
}

export interface ClientArguments extends CommonArguments {
  readonly kind: 'client'
  readonly command: string
  readonly cases: readonly ClientCase[]
}

export interface WorkerArguments extends CommonArguments {
  readonly kind: 'worker'
  readonly fn: string
  readonly command: string | undefined
  readonly failInput: string | undefined
}

/** @throws Error that says what is wrong; undefined if help was asked for */
export function readArguments(
  argv: readonly string[],
): ClientArguments | WorkerArguments | undefined {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...argv],
    options: {
      'redis-url': text,
      'client-command': text,
      cases: text,
      'worker-function': text,
      'worker-command': text,
      'fail-input': text,
      'timeout-seconds': text,
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return undefined
  const redisUrl = values['redis-url']
  const command = values['client-command']
  const fn = values['worker-function']
  if (redisUrl === undefined) throw new Error('--redis-url is missing')
  const seconds = Number(values['timeout-seconds'] ?? 10)
  if (!(seconds > 0)) throw new Error('--timeout-seconds is not a positive number')
  const common = { redisUrl, timeoutMs: seconds * 1000 }
  if (command !== undefined && fn === undefined) {
    return { ...common, kind: 'client', command, cases: casesOf(values.cases) }
  }
  if (fn === undefined || fn === '' || command !== undefined) {
    throw new Error('give either --client-command or --worker-function')
  }
  const workerCommand = values['worker-command']
  return { ...common, kind: 'worker', fn, command: workerCommand, failInput: values['fail-input'] }
}

function casesOf(list: string | undefined): readonly ClientCase[] {
  if (list === undefined) return clientCases
  return list.split(',').map((word) => {
    const found = clientCases.find((one) => one === word)
    if (!found) throw new Error(`--cases: ${word} is none of ${clientCases.join(', ')}`)
    return found
  })
}
