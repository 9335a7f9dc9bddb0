import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacks } from '@crossgear/tools/lacks'
import { describe, expect, test } from 'vitest'
import { exampleFile } from '../../../scripts/manual/example-file.ts'
import { commandPage, filePage } from '../../../scripts/manual/man-pages.ts'
import { commandTable } from '../../../src/commands/command-table.ts'
import { readConfigFile } from '../../../src/config/config-file.ts'
import { flagOf, keyOf, optionNames, optionRow } from '../../../src/config/options.ts'
import { load, loadFile } from '../../support/settings.ts'
import { configFile, temporaryFolder } from '../../support/temporary-folder.ts'

const release = { version: '1.2.3', date: '2026-01-31' }
const pages = {
  'crossgear.1': commandPage(commandTable, release),
  'crossgear.toml.5': filePage(release),
}
const lacksMan = lacks('man', '--version')

/** The file with all comment signs before keys taken away. */
const uncommented = exampleFile()
  .split('\n')
  .map((line) => line.replace(/^#(?=[\w[])/, ''))
  .filter((line) => !/^\w+ =$/.test(line))
  .join('\n')

describe('the settings file of the packages', () => {
  test('changes nothing as it is', async () => {
    const config = await configFile(exampleFile())
    expect(load({ flags: { config } })).toEqual({ ...load(), config })
  })

  test('has every option at its default, and examples that are taken', async () => {
    const file = await configFile(uncommented)
    const { values, routes, cron, throttles, operators } = readConfigFile(file)
    expect([routes.size, cron.length, throttles.size, operators.size]).toEqual([1, 1, 1, 1])
    for (const name of optionNames) {
      const key = keyOf(name)
      if (key === null) continue
      const own = key.split('.').at(-1) ?? ''
      expect(exampleFile()).toMatch(new RegExp(`^#${own} =`, 'm'))
      const { fallback, shownFallback } = optionRow(name)
      const isShown =
        fallback !== undefined && (shownFallback === undefined || shownFallback === 'no')
      if (isShown) expect([name, values.get(name)]).toEqual([name, fallback])
    }
  })

  test('uses values of TOML, which has no yes and no', () => {
    for (const text of [exampleFile(), pages['crossgear.toml.5']]) {
      expect(text).toContain('Takes true or false.')
      expect(text).not.toMatch(/Takes yes|Default: (yes|no)\./)
    }
  })

  test("has a package's presets without a comment sign", async () => {
    const { dataDir } = await loadFile(exampleFile({ dataDir: '/var/lib/jobs' }))
    expect(dataDir).toBe('/var/lib/jobs')
  })
})

describe('man pages', () => {
  test('name every command, option and key', () => {
    const plain = (page: string) => page.replaceAll('\\-', '-').replaceAll(/\\f[BIR]/g, '')
    const [program, settings] = [pages['crossgear.1'], pages['crossgear.toml.5']].map(plain)
    for (const { words } of commandTable) expect(program).toContain(`\n${words.join(' ')}`)
    for (const name of optionNames) {
      const key = keyOf(name)
      expect(program).toContain(`\n${flagOf(name)} `)
      if (key !== null) expect(settings).toContain(`\n${key}\n`)
    }
  })

  test.skipIf(lacksMan).each(Object.entries(pages))(
    '%s is shown without a warning',
    async (name, text) => {
      const file = join(await temporaryFolder(), name)
      writeFileSync(file, text)
      const { status, stdout, stderr } = spawnSync('man', ['--warnings', '-l', file], {
        encoding: 'utf8',
        env: { ...process.env, MANPAGER: 'cat', PAGER: 'cat', MANWIDTH: '80', LC_ALL: 'C.UTF-8' },
      })
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toContain('NAME')
    },
  )
})
