import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

const filesIn = (folder: string, recursive: boolean): string[] =>
  readdirSync(join(root, folder), { encoding: 'utf8', recursive })
    .map((name) => join(folder, name))
    .filter((path) => !/(?:^|\/)(?:node_modules|dist|cache)\//.test(path))
const pages = [
  ...filesIn('.', false),
  ...filesIn('docs', true),
  ...filesIn('examples', false),
].filter((path) => path.endsWith('.md'))
const read = (page: string): string => readFileSync(join(root, page), 'utf8')

/** A heading as sites make an anchor of it. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

/** The anchor of a heading on this project's site, which makes one hyphen of all that is no letter or digit. */
function siteAnchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .replace(/^(?=\d)/, '_')
}

/** Text without code: what stands there is no link and no heading. */
const prose = (page: string): string =>
  read(page)
    .replaceAll(/^ *```[^]*?^ *```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()#]/g, ''))

function anchorsIn(page: string, anchor: (heading: string) => string): readonly string[] {
  return [...prose(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchor(heading))
}

describe('the pages', () => {
  test('of the project and of its packages name sources that exist', () => {
    const ofPackages = readdirSync(join(root, 'packages')).map(
      (name) => `packages/${name}/README.md`,
    )
    const sources = ['apps', 'packages', 'tools'].flatMap((folder) => filesIn(folder, true))
    const names = new Set(sources.map((path) => basename(path)))
    const named = [...pages, ...ofPackages].flatMap((page) =>
      [...read(page).matchAll(/`(?:[\w.-]+\/)*([\w.-]+\.ts)`/g)].map(([, name = '']) => ({
        page,
        name,
      })),
    )
    expect(named.length).toBeGreaterThan(30)
    // An `x` stands for any name.
    const gone = named.filter(({ name }) => !name.startsWith('x.') && !names.has(name))
    expect(gone).toEqual([])
  })

  test.each([
    ['where they are read as files', anchorOf],
    ['on the site', siteAnchorOf],
  ])('link to existing pages, headings and files %s', (_where, anchorsBy) => {
    const links = pages.flatMap((page) =>
      [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ page, target })),
    )
    const inside = links.filter(({ target }) => !/^[a-z]+:/.test(target))
    expect(inside.length).toBeGreaterThan(30)
    const dead = inside.filter(({ page, target }) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && !anchorsIn(file, anchorsBy).includes(anchor)
    })
    expect(dead).toEqual([])
  })

  test('are all in the side bar of the site', async () => {
    const module = new URL('../../docs/.vitepress/side-bar.mjs', import.meta.url)
    const { sideBar } = (await import(module.href)) as {
      sideBar: readonly { items: readonly { link: string }[] }[]
    }
    const links = sideBar.flatMap(({ items }) => items.map(({ link }) => link))
    const listed = links.map((link) => `docs${link.replace(/\/$/, '/index')}.md`)
    const documented = pages.filter((page) => /^docs\/.*\.md$/.test(page))
    expect(documented.length).toBeGreaterThan(15)
    expect([...listed, 'docs/index.md'].sort()).toEqual(documented.sort())
  })

  test('that sources, messages and pages name exist', () => {
    const sources = ['apps', 'deploy', 'docs', 'packages', 'tools'].flatMap((folder) =>
      filesIn(folder, true).filter((path) =>
        /\.(?:json|md|mjs|ts|yml|yaml|service|sh)$/.test(path),
      ),
    )
    const named = [...pages, ...sources].flatMap((file) =>
      [...read(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([page]) => ({ file, page })),
    )
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter(({ page }) => !pages.includes(page))).toEqual([])
  })
})
