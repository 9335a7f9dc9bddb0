import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineOfRecord, recordOfLine } from '../src/record/ndjson.ts'
import type { JobRecord } from '../src/record/record.ts'

const bytes = (min: number, max: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((array) => Buffer.from(array))

const record: fc.Arbitrary<JobRecord> = fc.record(
  {
    importId: bytes(16, 16),
    state: fc.constantFrom('queued', 'dead', 'working'),
    door: fc.constantFrom('gearman', 'faktory', 'http', 'native', 'echo'),
    fn: fc.string({ minLength: 1, unit: 'grapheme' }),
    queue: fc.constantFrom('bulk', 'a.b_c-d'),
    unique: bytes(0, 64),
    level: fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 9),
    payload: bytes(0, 200),
    dueAtMs: fc.nat(),
    jid: fc.string(),
    envelope: fc.constant('{"jid":"x","n":12345678901234567890}'),
    failure: fc.constant('{"retry_count":1}'),
    retries: fc.integer(),
  },
  { requiredKeys: ['importId', 'state', 'door', 'fn', 'level', 'payload'] },
)

test('a record is read back from its line unchanged', () => {
  fc.assert(
    fc.property(record, (one) => {
      expect(recordOfLine(lineOfRecord(one))).toEqual(one)
    }),
  )
})

test.each([
  ['no JSON', 'it is no JSON'],
  ['7', 'it is no JSON object'],
  ['{"v":2}', 'its version is not 1'],
  ['{"v":1,"state":"lost"}', 'state is none that there is'],
  ['{"v":1,"state":"queued"}', 'door is no name of a door'],
  ['{"v":1,"state":"queued","door":"Gearman 2"}', 'door is no name of a door'],
  [
    '{"v":1,"state":"queued","door":"gearman","function":"f","level":5,"payload":"%"}',
    'payload is no base64',
  ],
  [
    '{"v":1,"state":"retry","door":"gearman","function":"f","level":5,"payload":""}',
    'due_ms is missing',
  ],
  [
    '{"v":1,"state":"queued","door":"gearman","function":"f","level":5,"payload":"","failure":"{"}',
    'failure is not valid',
  ],
])('%s is reported: %s', (line, fault) => {
  expect(recordOfLine(line)).toBe(fault)
})
