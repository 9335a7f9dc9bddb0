import { expect, test } from 'vitest'
import { warnOfForeignFields } from '../../../src/config/log/log-deduper.ts'
import { recordingLog } from '../../support/recording-log.ts'

test('a field with values of another program is logged once, with the field', () => {
  const { log, lines } = recordingLog()
  let nowMs = 0
  const told = warnOfForeignFields(log, () => nowMs)
  for (let id = 1; id <= 1_000; id += 1) {
    told({ lane: 'mail', id, field: 'reserve_for' })
    told({ lane: 'sms', id, field: 'failure' })
  }
  const warning = (field: string): string =>
    `Another program wrote a value into the field ${field} of a job that means nothing there: it is ignored.`
  expect(lines).toEqual([warning('reserve_for'), warning('failure')])
  nowMs = 60_000
  told({ lane: 'mail', id: 7, field: 'failure' })
  expect(lines.slice(2)).toEqual([warning('failure')])
})
