import { accessSync, constants, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { optionNames } from '../../src/config/options.ts'
import { commands as terminalRows } from '../../src/commands/terminal/commands.ts'
import { flagOfRow } from '../../src/config/option-row.ts'
import { startGateway } from '../support/gateway-process.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const gateway = new URL('../../', import.meta.url)
const { bin } = JSON.parse(readFileSync(new URL('package.json', gateway), 'utf8')) as {
  bin: Record<string, string>
}

/** Lines of the fenced blocks of all pages, without what is set before a command. */
const named = (pattern: RegExp, folder: string, recursive = false): string[] =>
  readdirSync(`${root}/${folder}`, { encoding: 'utf8', recursive })
    .filter((name) => pattern.test(name))
    .map((name) => `${folder}/${name}`)
const pages = [
  ...named(/\.md$/, '.'),
  ...named(/^(?!.*node_modules).*\.md$/, 'docs', true),
  ...named(/\.md$/, 'examples'),
]
/** Lines of a block; of one with prompts, which shows output too, what stands behind them. */
function linesOf(block: string): readonly string[] {
  const lines = block.split('\n')
  const asked = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
  return asked.length > 0 ? asked : lines
}

const commands = pages.flatMap((page) => {
  const blocks =
    readFileSync(`${root}/${page}`, 'utf8').match(/^```(?:sh|bash)?\n[^]*?^```$/gm) ?? []
  return blocks.flatMap((block) =>
    linesOf(block).map((line) => ({
      page,
      words: line.replace(/^([A-Z_]+=\S+ )+/, '').split(' '),
    })),
  )
})

/** Options of the project's own scripts and of other programs that the pages name. */
const flagsOfOthers = new Set([
  '--jobs',
  '--list',
  '--page',
  '--quick',
  '--rows',
  '--seed',
  '--soak',
  '--exhaustive',
  '--fault',
  '--oneline',
  '--plan',
  '--root',
  '--seeds',
  '--daemonize',
  '--dbfilename',
  '--dir',
  '--status',
  '--unixsocket',
  '--files',
  '--from-literal',
  '--help',
  '--read-only',
  '--rm',
  '--set',
])

describe('the commands of the package', () => {
  let helps: readonly string[]

  beforeAll(async () => {
    const acts = ['plan', 'run', 'verify', 'rollback', 'export'].map((act) => ['migrate', act])
    const ends = await Promise.all(
      [
        ['serve'],
        ['gearmand'],
        ['nodes'],
        ['mirror'],
        ['doctor'],
        ['backup'],
        ['restore'],
        ...acts,
      ].map((command) => startGateway([...command, '--help']).exited),
    )
    helps = ends.map(({ stdout }) => stdout)
  })

  test('are programs that can be run, and none has the name of gearmand or Faktory', () => {
    expect(Object.keys(bin).sort()).toEqual([
      'crossgear',
      'crossgear-faktory',
      'crossgear-gearmand',
    ])
    for (const path of Object.values(bin)) accessSync(new URL(path, gateway), constants.X_OK)
    // Start scripts point at this path.
    for (const name of ['gearmand', 'faktory']) {
      accessSync(new URL(`bin/${name}`, gateway), constants.X_OK)
    }
  })

  test('are never fetched from npm by a name that is not ours', () => {
    const sources = ['apps', 'packages', 'deploy'].flatMap((folder) =>
      named(/^(?:(?!node_modules|dist|out-tsc).)*\.(?:ts|js|mjs|md|yaml|service)$/, folder, true),
    )
    const texts = [...pages, ...sources].map((page) => readFileSync(`${root}/${page}`, 'utf8'))
    expect(texts.length).toBeGreaterThan(500)
    const fetch = /\b(?:npx|npm exec|npm (?:install|i))((?: -[\w-]+)*) +([a-z@][\w@/.-]*)/g
    const fetched = [...texts, ...helps].flatMap((text) =>
      Array.from(text.matchAll(fetch), ([, , name = '']) => name),
    )
    expect(fetched).toContain('@crossgear/gateway')
    const unscoped = [...Object.keys(bin), 'gearmonkey-conformance']
    expect(fetched.filter((name) => unscoped.includes(name))).toEqual([])
    const written = commands.filter(({ words }) => words[0]?.startsWith('crossgear'))
    expect(written.length).toBeGreaterThan(50)
    for (const { words } of written) expect(Object.keys(bin)).toContain(words[0])
  })

  test('take every option that a document names', () => {
    const known = new Set([
      ...helps.flatMap((help) => help.match(/--[a-z][\w-]+/g) ?? []),
      ...terminalRows.flatMap(({ options = [] }) => options.map(flagOfRow)),
    ])
    const unknown = pages.flatMap((page) => {
      const text = readFileSync(`${root}/${page}`, 'utf8')
      const flags = [...text.matchAll(/(?:^|[ `(])(--[a-z][\w-]+)/gm)]
      return flags.flatMap(([, flag = '']) =>
        known.has(flag) || flagsOfOthers.has(flag) ? [] : [`${page}: ${flag}`],
      )
    })
    expect(known.size).toBeGreaterThan(optionNames.length)
    expect(unknown).toEqual([])
  })
})
