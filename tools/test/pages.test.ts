import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

const pages = ['.', 'docs', 'examples'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
)
const read = (page: string): string => readFileSync(join(root, page), 'utf8')

/** A heading as sites make an anchor of it. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

/** Text without code: what stands there is no link and no heading. */
const prose = (page: string): string =>
  read(page)
    .replaceAll(/^ *```[^]*?^ *```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()#]/g, ''))

function anchorsIn(page: string): readonly string[] {
  return [...prose(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))
}

describe('the pages', () => {
  test('link to existing pages, headings and files', () => {
    const links = pages.flatMap((page) =>
      [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ page, target })),
    )
    const inside = links.filter(({ target }) => !/^[a-z]+:/.test(target))
    expect(inside.length).toBeGreaterThan(30)
    const dead = inside.filter(({ page, target }) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && !anchorsIn(file).includes(anchor)
    })
    expect(dead).toEqual([])
  })

  test('in the menu of the site exist', () => {
    const menu = readFileSync(join(root, 'docs/.vitepress/config.mjs'), 'utf8')
    const named = [...menu.matchAll(/link: '\/([\w-]+)'/g)].map(
      ([, name = '']) => `docs/${name}.md`,
    )
    expect(named.length).toBeGreaterThan(15)
    expect(named.filter((page) => !pages.includes(page))).toEqual([])
  })
})
