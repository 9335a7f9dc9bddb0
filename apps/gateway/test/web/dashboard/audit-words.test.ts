import { expect, test } from 'vitest'
import { actWords, targetWords } from '../../../dashboard/audit-words.js'
import { type Endpoint } from '../../../src/web/api/endpoint.ts'
import { endpoints } from '../../../src/web/api/endpoints.ts'

test('every act of the API has words on the page Audit', () => {
  const acts = Object.entries(endpoints as Readonly<Record<string, Endpoint>>)
    .filter(([, { method }]) => method !== 'GET')
    .map(([name]) => name)
  expect(Object.keys(actWords).sort()).toEqual([...acts, 'reload'].sort())
})

test.each([
  ['{"functions":["mail","print"]}', 'mail, print'],
  [
    '{"filter":{"state":"dead","older_than_seconds":60}}',
    'all that match: state dead, older than seconds 60',
  ],
  ['{"filter":{}}', 'all that match: anything'],
  ['{"jobs":["1-27"],"to_queue":"bulk"}', '1-27, to the queue bulk'],
  ['{"function":"f","high":0,"normal":5,"low":0}', 'f, high 0, normal 5, low 0'],
  ['{"wid":"all","signal":"quiet"}', 'all, quiet'],
  ['{}', ''],
  ['create function made', 'create function made'],
  ['{"functions":["cut', '{"functions":["cut'],
  ['[1]', '[1]'],
])('the target %s reads %s', (target, words) => {
  expect(targetWords(target)).toBe(words)
})
