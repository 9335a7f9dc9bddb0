import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { lacks } from '@crossgear/tools/lacks'
import { describe, expect, test } from 'vitest'
import { libraryOf } from '../../src/scripts/library.ts'

const config = fileURLToPath(new URL('../../.luacheckrc', import.meta.url))
const lacksLuacheck = lacks('luacheck', '--version')
const library = libraryOf(0).text.replace(/^#!.*\n/, '')

/** Warnings of luacheck, a line each. */
function complaints(lua: string): string {
  const words = ['--config', config, '--formatter', 'plain', '--codes', '-']
  const { stdout, stderr } = spawnSync('luacheck', words, { input: lua, encoding: 'utf8' })
  return stdout + stderr
}

describe.skipIf(lacksLuacheck)('luacheck, on the library as the server gets it,', () => {
  test('finds nothing', () => {
    expect(library).toContain('function Places.enterLine(')
    expect(complaints(library)).toBe('')
  })

  test.each([
    ['a name that nobody defined', 'return nobodyKnows(KEYS[1])', 'W113'],
    ['a name that is global by mistake', "left = redis.call('GET', KEYS[1])", 'W111'],
    ['a local that nothing uses', "local left = redis.call('GET', KEYS[1])", 'W211'],
    ['a value that is never read', 'local left = 1\nleft = 2\nleft = 3\nreturn left', 'W311'],
  ])('finds %s', (_fault, text, code) => {
    const planted = `local function run(KEYS)\n${text}\nend\nreturn run\n`
    expect(complaints(planted)).toContain(`(${code})`)
  })
})
