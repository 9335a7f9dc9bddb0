import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readPlan, savePlan } from '../run/plan-file.ts'
import { planOf } from '../world/plan.ts'

function newFile(text?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'xg-plan-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'plan.json')
  if (text !== undefined) writeFileSync(file, text)
  return file
}

test('a saved plan is read as it was', () => {
  const file = newFile()
  for (let seed = 1; seed <= 50; seed += 1) {
    savePlan(file, planOf(seed), 'it waits')
    expect(readPlan(file)).toEqual(planOf(seed))
  }
})

const plan = planOf(1)
test.each([
  [undefined, 'no such file'],
  ['{', 'cannot be read'],
  ['[]', 'has no plan: plan.seed is a whole number from 0 to 4294967295'],
  [JSON.stringify({ ...plan, gateways: 0 }), 'plan.gateways is a whole number from 1 to 10'],
  [
    JSON.stringify({ ...plan, peers: [{ name: 'x1', kind: 'cat', jobs: 1 }] }),
    'plan.peers[0].kind is one of',
  ],
  [JSON.stringify({ ...plan, faults: 3 }), 'plan.faults is a list of at most 1000'],
  [
    JSON.stringify({ ...plan, functionOrder: 'random' }),
    'plan.functionOrder is one of in-order, by-level',
  ],
  [' '.repeat(2 ** 20 + 1), 'it is longer than a plan'],
])('a file with %.20j is refused in one line', (text, problem) => {
  const file = newFile(text)
  const read = (): unknown => readPlan(file)
  expect(read).toThrow(problem)
  expect(read).toThrow(/^[^\n]*$/)
})
