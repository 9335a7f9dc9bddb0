import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { flagOf, optionNames, optionRow } from '../../src/config/options.ts'
import type { Rejection } from '../../src/doors/faktory/context.ts'
import type { RejectReason } from '../../src/doors/gearman/replies.ts'
import type { HttpRejection } from '../../src/doors/http/http-door.ts'
import type { DropReason } from '../../src/doors/net/connection.ts'
import { doorHooks } from '../../src/operations/door-hooks.ts'
import { Metrics } from '../../src/operations/metrics/metrics.ts'
import { observeWith } from '../../src/operations/observe.ts'
import type { WebLimit } from '../../src/operations/web-limits.ts'
import { recordingLog } from '../support/recording-log.ts'

const page = readFileSync(new URL('../../../../docs/reference/limits.md', import.meta.url), 'utf8')

type Reason = RejectReason | HttpRejection | Rejection | DropReason | WebLimit

/** The compiler sees to it that none is missing. */
const reasons: Readonly<Record<Reason, true>> = {
  too_many_calls: true,
  too_much_work: true,
  too_many_viewers: true,
  tls_slow: true,
  connections: true,
  tls_handshake: true,
  slow: true,
  buffer: true,
  error: true,
  store: true,
  not_allowed: true,
  bad_magic: true,
  unknown_command: true,
  malformed_arguments: true,
  packet_too_large: true,
  line_too_long: true,
  wrong_magic: true,
  command_not_expected: true,
  empty_function: true,
  function_too_large: true,
  function_not_utf8: true,
  bad_name: true,
  unique_too_large: true,
  too_many_functions: true,
  queue_full: true,
  no_workers: true,
  never_due: true,
  unknown_option: true,
  result_without_job: true,
  data_without_job: true,
  exception_without_job: true,
  no_function: true,
  method: true,
  bad_path: true,
  body_too_large: true,
  outcome_too_large: true,
  head_too_large: true,
  malformed: true,
  too_slow: true,
  pipeline: true,
  address_connections: true,
  file_descriptors: true,
  foreign_host: true,
  cross_site: true,
  two_hosts: true,
  busy: true,
  stopping: true,
  silence: true,
  hello: true,
  password: true,
  password_tries: true,
  line: true,
  dead: true,
  new_function_limit: true,
}

test('docs/reference/limits.md lists every reason of a refusal', () => {
  const [, section = ''] = page.split('\n## Refusals\n')
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  const listed = rows.flatMap((row) => row.split('|')[1]?.match(/\w+/g) ?? [])
  expect(listed.filter((word) => word !== 'reason').sort()).toEqual(Object.keys(reasons).sort())
})

test('docs/reference/limits.md names every option that sets a limit', () => {
  const limits = optionNames.filter((name) => optionRow(name).group === 'Limits')
  expect(limits.length).toBeGreaterThan(5)
  for (const name of limits) expect(page).toContain(`\`${flagOf(name)}\``)
})

/** Sections with limits of peers, each with a door that has them. */
const sections = {
  Connections: 'gearman',
  Gearman: 'gearman',
  'Web port': 'web',
  HTTP: 'http',
  Faktory: 'faktory',
}
/** Effects that a peer, or all of them, must feel. */
const isRefusal = /closed|disconnected|429|503/
/** Ends without a refusal: of a peer that is gone or has no request, and of one line of many. */
const usualEnds = [
  'Connections: idle time before the first TCP keepalive probe',
  'Web port: time without a request',
  'HTTP: time without a request',
]

interface Row {
  readonly section: string
  readonly limit: string
  readonly effect: string
  readonly reasons: readonly string[]
}

const rows: readonly Row[] = Object.keys(sections).flatMap((section) => {
  const [, text = ''] = page.split(`\n## ${section}\n`)
  const lines = text.split('\n## ')[0]?.match(/^\| .*/gm) ?? []
  return lines.slice(2).map((line) => {
    const [limit = '', , , effect = '', reason = ''] = line
      .slice(1)
      .split('|')
      .map((cell) => cell.trim())
    return { section, limit, effect, reasons: reason.match(/\w+/g) ?? [] }
  })
})

test('docs/reference/limits.md has a reason for each limit that refuses somebody', () => {
  expect(rows.length).toBeGreaterThan(50)
  const unexplained = rows.filter(
    ({ limit, effect, reasons }) => isRefusal.test(effect) && reasons.length === 0 && limit !== '',
  )
  expect(unexplained.map(({ section, limit }) => `${section}: ${limit}`)).toEqual(usualEnds)
})

const refusing = rows.flatMap(({ section, limit, reasons }) =>
  reasons.map((reason) => [section, limit, reason] as const),
)

test.each(refusing)('%s, %s: the log has a line for %s', (section, _limit, reason) => {
  const door = sections[section as keyof typeof sections]
  const { log, lines } = recordingLog()
  const metrics = new Metrics()
  const hooks = { metrics: metrics.door(door), log, observer: observeWith(metrics, log) }
  doorHooks(door, hooks).rejected(reason, '10.0.0.1')
  expect(lines.at(-1)).toMatch(
    new RegExp(`^A limit of the ${door} port is reached: .+ The first came from 10.0.0.1.$`),
  )
})
