import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { libraryOf } from '../../src/scripts/library.ts'

const folder = new URL('../../lua/', import.meta.url)
const scripts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.lua') && !file.startsWith('lib/'),
)

test('a library is named by its database and its text', () => {
  const { name, text, functionOf } = libraryOf(3)
  expect(name).toMatch(/^crossgear_3_[0-9a-f]{12}$/)
  expect(text.startsWith(`#!lua name=${name}\n`)).toBe(true)
  expect(functionOf('step-free')).toBe(`${name}_step_free`)
  expect(libraryOf(0).name).not.toBe(name)
})

test('every name that a file takes from a module is one that the module gives', () => {
  const lua = libraryOf(0).text.replaceAll(/--.*/g, '')
  const modules = [...lua.matchAll(/^local ([A-Z]\w+) = \{/gm)].map(([, name = '']) => name)
  const member = `\\b(?:${modules.join('|')})\\.\\w+`
  const given = new Set(
    [...lua.matchAll(new RegExp(`function (${member})\\(`, 'g'))].map(([, name]) => name),
  )
  for (const [, targets = ''] of lua.matchAll(new RegExp(`((?:${member}, )*${member}) = `, 'g')))
    for (const name of targets.split(', ')) given.add(name)
  given.add('JobEnds.relaySeconds').add('JobEnds.nativeRetention').add('JobEnds.maxRelayed')
  const taken = [...lua.matchAll(new RegExp(member, 'g'))].map(([name]) => name)
  expect(taken.length).toBeGreaterThan(1000)
  expect(taken.filter((name) => !given.has(name))).toEqual([])
})

// The first two arguments are the same of all: see lua/lib/keys.lua.
test.each(scripts)('%s lists its keys and arguments, one a line, and what it returns', (file) => {
  const item = String.raw`(?:--   \d.*\n(?:--     .*\n)*)`
  const head = new RegExp(
    `^(?:-- .*\\n)+-- KEYS:\\n${item}+(?:-- ARGV:\\n(?=--   3)${item}+)?-- Returns .`,
  )
  expect(readFileSync(new URL(file, folder), 'utf8')).toMatch(head)
})
