import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lacks } from '@crossgear/tools/lacks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkedScripts } from '../../src/scripts/linked-scripts.ts'

const config = fileURLToPath(new URL('../../.luacheckrc', import.meta.url))
const lacksLuacheck = lacks('luacheck', '--version')

/** Warnings of luacheck for the files of a folder, a line each. */
function complaints(folder: string): string {
  const words = ['--config', config, '--formatter', 'plain', '--codes', '.']
  const { stdout, stderr } = spawnSync('luacheck', words, { cwd: folder, encoding: 'utf8' })
  return stdout + stderr
}

describe.skipIf(lacksLuacheck)('luacheck, on scripts as the server gets them,', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'xg-lua-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  function keep(place: string, name: string, text: string): void {
    writeFileSync(join(folder, place, `${name}.lua`), `local database = 0\n${text}`)
  }

  test('finds nothing', () => {
    mkdirSync(join(folder, 'own'))
    const scripts = Object.entries(linkedScripts)
    for (const [name, { libraries, own }] of scripts)
      keep('own', name, [...libraries, own].join(''))
    expect(scripts.length).toBeGreaterThan(20)
    expect(complaints(join(folder, 'own'))).toBe('')
  })

  test.each([
    ['a name that nobody defined', 'return nobodyKnows(KEYS[1])\n', 'W113'],
    ['a name that is global by mistake', "left = redis.call('GET', KEYS[1])\n", 'W111'],
    ['a local that nothing uses', "local left = redis.call('GET', KEYS[1])\n", 'W211'],
    ['a value that is never read', 'local left = 1\nleft = 2\nleft = 3\nreturn left\n', 'W311'],
  ])('finds %s', (fault, text, code) => {
    const place = fault.replaceAll(' ', '-')
    mkdirSync(join(folder, place))
    keep(place, 'planted', text)
    expect(complaints(join(folder, place))).toContain(`(${code})`)
  })
})
