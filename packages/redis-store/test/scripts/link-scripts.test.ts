import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { linkedScripts } from '../../src/scripts/linked-scripts.ts'

const folder = new URL('../../lua/', import.meta.url)
const filesIn = (url: URL): string[] =>
  readdirSync(url, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'))
const names = filesIn(folder)
  .filter((file) => !file.startsWith('lib/'))
  .map((file) => basename(file, '.lua'))

const readScript = (name: string): string => {
  const { libraries = [], own = '' } = linkedScripts[name] ?? {}
  return [...libraries, own].join('')
}

const definition = /local function (\w+)\(/g
const libraries = new URL('lib/', folder)
const functions = filesIn(libraries).flatMap((file) => {
  const text = readFileSync(new URL(file, libraries), 'utf8')
  return [...text.matchAll(definition)].map(([, word = '']) => word)
})

test.each(names)('%s includes only the library functions that it uses', (name) => {
  const script = readScript(name)
  const defined = [...script.matchAll(definition)].map(([, word = '']) => word)
  const unused = defined.filter((word) => script.split(new RegExp(`\\b${word}\\b`)).length < 3)
  const missing = functions.filter(
    (word) => new RegExp(`\\b${word}\\(`).test(script) && !defined.includes(word),
  )
  expect({ unused, missing }).toEqual({ unused: [], missing: [] })
  expect(script).not.toContain('--#include')
})

test('a script includes the library functions that its libraries use', () => {
  const script = readScript('wait-again')
  for (const word of ['laneKey', 'jobKey', 'jobFields', 'countWait', 'withoutNode']) {
    expect(script).toContain(`local function ${word}(`)
  }
  expect(script).not.toContain('local function queueKey(')
})

test('helpers inside a function are not hoisted out of it', () => {
  const script = readScript('step')
  const at = (text: string): number => script.indexOf(`local function ${text}(`)
  expect(at('joinBatch')).toBeGreaterThan(at('joinsBatch'))
  expect(at('jobKey')).toBeLessThan(at('joinsBatch'))
})

test.each(['step', 'reclaim-node'])(
  '%s has the numbers of its libraries in place of their names',
  (name) => {
    const script = readScript(name)
    expect(script).not.toContain('relaySeconds')
    expect(script).toContain(' < 60 then ')
  },
)

test.each(['step', 'heal'])('%s builds keys in place of calling their builders', (name) => {
  const script = readScript(name)
  expect(script).not.toContain('metaKey')
  expect(script).toContain("laneKey('xg:lane', lane)")
})

const scripts = filesIn(folder).filter((file) => !file.startsWith('lib/'))

// The first two arguments are the same of all: see lua/lib/keys.lua.
test.each(scripts)('%s lists its keys and arguments, one a line, and what it returns', (file) => {
  const item = String.raw`(?:--   \d.*\n(?:--     .*\n)*)`
  const head = new RegExp(
    `^(?:-- .*\\n)+-- KEYS:\\n${item}+(?:-- ARGV:\\n(?=--   3)${item}+)?-- Returns .`,
  )
  expect(readFileSync(new URL(file, folder), 'utf8')).toMatch(head)
})
