import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { packetTypes } from '@crossgear/gearman-codec'
import { describe, expect, test } from 'vitest'
import { gearmandOptions } from '../../src/commands/gearmand/option-table.ts'

const tests = fileURLToPath(new URL('../', import.meta.url))
const source = (path: string): string =>
  readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const page = source('docs/start/compatibility.md')

/** The rows of a section's table, cell by cell. */
function rowsOf(section: string): readonly (readonly string[])[] {
  const [, text = ''] = page.split(`\n## ${section}\n`)
  const [own = ''] = text.split('\n## ')
  return own
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| -+ /.test(line))
    .slice(1)
    .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | ?\|$/g, '').trim()))
}

const names = (section: string): string[] =>
  rowsOf(section).map(([name = '']) => name.replaceAll('`', ''))

describe('docs/start/compatibility.md', () => {
  test('lists every packet but the unused one', () => {
    const known = packetTypes.map(({ name }) => name).filter((name) => name !== 'UNUSED')
    expect(names('Gearman packets')).toEqual(known)
  })

  test('lists every text command', () => {
    const commands = source('packages/gearman-codec/src/admin-commands.ts')
    const known = [...commands.matchAll(/^ {2}\['(\w+)', /gm)].map(([, word]) => word)
    const listed = names('Gearman text commands').map((name) => name.split(' ')[0])
    expect(known.length).toBeGreaterThan(8)
    expect([...new Set(listed)].sort()).toEqual(known.sort())
  })

  test('lists every option of gearmand but those of its queue types', () => {
    // The version is an option of ours.
    const own = ['gearmand-version']
    const known = gearmandOptions
      .filter(
        ({ name, effect }) => !own.includes(name) && (effect !== 'queue' || name === 'queue-type'),
      )
      .map(({ name }) => `--${name}`)
    expect(names('Options of gearmand').sort()).toEqual([...known].sort())
  })

  test('lists every verb of Faktory', () => {
    const [, list = ''] =
      /const verbs = \[(.*?)\]/s.exec(source('packages/fwp-codec/src/verbs.ts')) ?? []
    const known = [...list.matchAll(/'(\w+)'/g)].map(([, verb]) => verb)
    expect(names('Faktory verbs')).toEqual(known)
  })

  test('names a test for each supported entry, and a reason for each unsupported one', () => {
    const sections = page.matchAll(/^## (.*)$/gm)
    const rows = [...sections].flatMap(([, section = '']) => rowsOf(section))
    expect(rows.length).toBeGreaterThan(100)
    for (const [name, verdict, how, shown = ''] of rows) {
      const [, file, title = ''] =
        /^\[([\w./-]+)\]\(\.\.\/\.\.\/apps\/gateway\/test\/\1\): "(.+)"$/.exec(shown) ?? []
      if (verdict === 'not') expect([name, how]).toEqual([name, expect.stringMatching(/\w{3}/)])
      else {
        expect([name, file !== undefined && existsSync(tests + file)]).toEqual([name, true])
        expect([name, readFileSync(tests + String(file), 'utf8')]).toEqual([
          name,
          expect.stringContaining(title),
        ])
      }
    }
  })
})
