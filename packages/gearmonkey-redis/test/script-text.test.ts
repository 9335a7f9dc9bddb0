import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readScript } from '../src/script-text.ts'

const names = readdirSync(new URL('../lua/', import.meta.url))
  .filter((file) => file.endsWith('.lua'))
  .map((file) => file.slice(0, -4))

test.each(names)('%s brings what it uses of the libraries, and nothing else', (name) => {
  const script = readScript(name)
  const defined = [...script.matchAll(/^local function (\w+)/gm)].map(([, word = '']) => word)
  const unused = defined.filter((word) => script.split(new RegExp(`\\b${word}\\b`)).length < 3)
  expect(unused).toEqual([])
  expect(script).not.toContain('--#include')
})

test('a script brings what its libraries use of each other', () => {
  const script = readScript('report')
  for (const word of ['laneKey', 'jobKey', 'nodeChannel', 'relay']) {
    expect(script).toContain(`local function ${word}(`)
  }
  expect(script).not.toContain('local function finishJob(')
})
