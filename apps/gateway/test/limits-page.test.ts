import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { flagOf, optionNames, optionRow } from '../src/config/options.ts'
import type { Rejection } from '../src/faktory/context.ts'
import type { RejectReason } from '../src/gearman/replies.ts'
import type { HttpRejection } from '../src/http/http-door.ts'
import type { DropReason } from '../src/net/connection.ts'

const page = readFileSync(new URL('../../../docs/limits.md', import.meta.url), 'utf8')

type Reason = RejectReason | HttpRejection | Rejection | DropReason

/** The compiler sees to it that none is missing. */
const reasons: Readonly<Record<Reason, true>> = {
  ...{ connections: true, tls_handshake: true, slow: true, buffer: true, error: true, store: true },
  ...{ not_allowed: true, bad_magic: true, unknown_command: true, malformed_arguments: true },
  ...{ packet_too_large: true, line_too_long: true, wrong_magic: true },
  ...{ command_not_expected: true, empty_function: true, function_too_large: true },
  ...{ function_not_utf8: true, bad_name: true, unique_too_large: true },
  ...{ too_many_functions: true, queue_full: true, never_due: true, unknown_option: true },
  ...{ result_without_job: true, data_without_job: true, exception_without_job: true },
  ...{ no_function: true, method: true, bad_path: true, body_too_large: true },
  ...{ outcome_too_large: true, head_too_large: true, malformed: true, too_slow: true },
  ...{
    pipeline: true,
    address_connections: true,
    foreign_host: true,
    cross_site: true,
    two_hosts: true,
  },
  ...{ busy: true, stopping: true, silence: true, hello: true, password: true },
  ...{ password_tries: true, line: true, dead: true },
}

test('docs/limits.md lists every reason of a refusal', () => {
  const [, section = ''] = page.split('| reason ')
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  const listed = rows.flatMap((row) => row.split('|')[1]?.match(/\w+/g) ?? [])
  expect(listed.filter((word) => word !== 'reason').sort()).toEqual(Object.keys(reasons).sort())
})

test('docs/limits.md names every option that sets a limit', () => {
  const limits = optionNames.filter((name) => optionRow(name).group === 'Limits')
  expect(limits.length).toBeGreaterThan(5)
  for (const name of limits) expect(page).toContain(`\`${flagOf(name)}\``)
})
