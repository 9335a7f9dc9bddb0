import { expect, test } from 'vitest'
import { parseWords } from '../options.ts'

test.each([
  [
    '',
    {
      work: { kind: 'seeds', from: 1, count: 1_000 },
      tells: false,
      shrinks: true,
    },
  ],
  [
    '--seeds 50 --from 7 --processes 3',
    { work: { kind: 'seeds', from: 7, count: 50 }, processes: 3 },
  ],
  ['--seed 12', { work: { kind: 'seeds', from: 12, count: 1 }, tells: true }],
  [
    '--plan some.json --no-shrink',
    { work: { kind: 'plan', file: 'some.json' }, tells: true, shrinks: false },
  ],
  ['--seeds 2 --story', { tells: true }],
  ['--exhaustive', { work: { kind: 'orders', fault: 'crash', minutes: 1 } }],
  [
    '--exhaustive --fault freeze --minutes 3',
    { work: { kind: 'orders', fault: 'freeze', minutes: 3 } },
  ],
  ['--help', { show: 'help' }],
])('%j is understood', (words, choice) => {
  expect(parseWords(words.split(' ').filter(Boolean))).toMatchObject(choice)
})

test.each([
  ['--sed 3', 'There is no option --sed: did you mean --seed?'],
  ['--frobnicate', 'There is no option --frobnicate: see --help.'],
  ['12', '"12" is not an option: see --help.'],
  ['--seeds 0', '--seeds is a whole number from 1 to 4294967296, not "0".'],
  ['--seeds 1e3', '--seeds is a whole number from 1 to 4294967296, not "1e3".'],
  ['--from 4294967296', '--from is a whole number from 0 to 4294967295, not "4294967296".'],
  ['--from 4294967295 --seeds 2', 'Seeds end at 4294967295.'],
  ['--exhaustive --fault crush', 'There is no fault "crush": did you mean crash?'],
  ['--fault crash', '--fault needs --exhaustive.'],
  ['--seed 1 --plan x', '--seed and --plan do not go together.'],
  ['--seeds 5 --exhaustive', '--seeds and --exhaustive do not go together.'],
  ['--processes 1000', '--processes is a whole number from 1 to 256, not "1000".'],
  ['--minutes 0 --exhaustive', '--minutes is a whole number from 1 to 1440, not "0".'],
])('%j is refused in one line', (words, problem) => {
  expect(parseWords(words.split(' '))).toEqual({ problem })
})
