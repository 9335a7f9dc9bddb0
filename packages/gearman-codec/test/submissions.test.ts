import { expect, test } from 'vitest'
import { packetTypes } from '../src/packet-types.ts'
import { submissionName, submissionTypes } from '../src/submissions.ts'

test('every packet type that submits a job is in the table', () => {
  const names = packetTypes.map(({ name }) => name).filter((name) => name.startsWith('SUBMIT_'))
  expect(submissionTypes.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
})

test.each([
  ['high', false, 'SUBMIT_JOB_HIGH'],
  ['normal', false, 'SUBMIT_JOB'],
  ['low', false, 'SUBMIT_JOB_LOW'],
  ['high', true, 'SUBMIT_JOB_HIGH_BG'],
  ['normal', true, 'SUBMIT_JOB_BG'],
  ['low', true, 'SUBMIT_JOB_LOW_BG'],
] as const)(
  'a job of priority %s, in the background %s, is a %s',
  (priority, isBackground, name) => {
    expect(submissionName(priority, isBackground)).toBe(name)
  },
)
