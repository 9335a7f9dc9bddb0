import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Keys } from '@crossgear/gearmonkey-redis'
import { expect, test } from 'vitest'
import { StoreKeys } from '../src/index.ts'

const page = fileURLToPath(new URL('../../../ARCHITECTURE.md', import.meta.url))
const source = readFileSync(new URL('../src/keys.ts', import.meta.url), 'utf8')

/** Members of the builder that name no key of their own. */
const helpers = new Set(['constructor', 'allJids', 'lockOf', 'addPlaces'])

/** Comment, name and parameters of each member that builds a key. */
const members = [
  ...source.matchAll(
    /\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}(?:readonly )?(\w+)(?:\(([^)]*)\): string \{|(?:: string| = .*)\n)/g,
  ),
]

const tags = ['lane', 'queue', 'xg']

function rowOf([, comment = '', name = '', parameters = '']: RegExpExecArray) {
  const keys = new StoreKeys(true, '<database>' as never)
  const words = [...parameters.matchAll(/(\w+)\??(?::| =)/g)].map(([, word = '']) => word)
  const placeholders = words.map((word) => (tags.includes(word) ? word : `<${word}>`))
  const member = keys[name as keyof StoreKeys] as string | ((...words: string[]) => string)
  const key = typeof member === 'string' ? member : member.apply(keys, placeholders)
  const text = comment
    .replaceAll(/\n? *\* ?/g, ' ')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .trim()
  // A channel is no key of a slot: a lane in its name has no braces.
  return { key: `\`${key.replace(/:lane$/, ':<lane>')}\``, text }
}

/** Keys by their hash tag: of a lane, a queue, the whole broker, all others. */
function rankOf(key: string): number {
  const tag = tags.findIndex((word) => key.includes(`{${word}}`))
  return tag < 0 ? tags.length : tag
}

test('the table of keys in ARCHITECTURE.md is that of keys.ts: vitest -u writes it', async () => {
  const rows = members
    .map(rowOf)
    .sort((a, b) => rankOf(a.key) - rankOf(b.key) || (a.key < b.key ? -1 : 1))
  const all = [{ key: 'Key', text: 'Content and bound' }, ...rows]
  const widths = [all.map(({ key }) => key.length), all.map(({ text }) => text.length)]
  const [wide = 0, wider = 0] = widths.map((lengths) => Math.max(...lengths))
  const lines = all.map(({ key, text }) => `| ${key.padEnd(wide)} | ${text.padEnd(wider)} |`)
  lines.splice(1, 0, `| ${'-'.repeat(wide)} | ${'-'.repeat(wider)} |`)
  const written = readFileSync(page, 'utf8').replace(
    /(?<=<!-- keys -->\n\n)[^]*(?=\n\n<!-- \/keys -->)/,
    lines.join('\n'),
  )
  await expect(written).toMatchFileSnapshot(page)
})

test('every member of the builder is in that table, or a helper', () => {
  const keys = new StoreKeys(true)
  const inherited = new Set([
    ...Object.keys(new Keys(true)),
    ...Object.getOwnPropertyNames(Keys.prototype),
  ])
  const own = [...Object.keys(keys), ...Object.getOwnPropertyNames(StoreKeys.prototype)].filter(
    (name) => !inherited.has(name) && !helpers.has(name),
  )
  expect(own.length).toBeGreaterThan(40)
  expect(members.map(([, , name]) => name).sort()).toEqual(own.sort())
})
