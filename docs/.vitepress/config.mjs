// `npm run docs:site` builds the site.
import { posix } from 'node:path'
import { defineConfig } from 'vitepress'
import { sideBar } from './side-bar.mjs'

/** The address at which files outside of this folder are shown. The release knows its repository; elsewhere they are no links. */
const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_SHA: commit } = process.env
const sources = repository === undefined ? undefined : `${server}/${repository}/blob/${commit}/`

function linkSources(markdown) {
  markdown.core.ruler.push('sources', ({ tokens, env }) => {
    for (const { children } of tokens) {
      for (const [at, token] of (children ?? []).entries()) {
        const path = token.type === 'link_open' ? token.attrGet('href') : undefined
        if (!path?.startsWith('../')) continue
        const fromDocs = posix.join(posix.dirname(env.relativePath), path)
        if (!fromDocs.startsWith('../')) continue
        if (sources !== undefined) token.attrSet('href', sources + fromDocs.slice('../'.length))
        else {
          token.type = 'text'
          token.tag = ''
          token.nesting = 0
          const end = children.slice(at).find(({ type }) => type === 'link_close')
          Object.assign(end, { type: 'text', tag: '', nesting: 0 })
        }
      }
    }
  })
}

/** Anchors of each page and links to anchors, both as the site has them. */
const anchors = new Map()
const links = []

function noteAnchors(markdown) {
  markdown.core.ruler.push('anchors', ({ tokens, env }) => {
    const { relativePath: page } = env
    const own = tokens.flatMap((token) =>
      token.type === 'heading_open' ? [token.attrGet('id')] : [],
    )
    anchors.set(page, new Set(own))
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        const [path, anchor] = (token.type === 'link_open' ? token.attrGet('href') : '').split('#')
        if (anchor === undefined || anchor === '' || /^[a-z]+:/.test(path)) continue
        const target = path === '' ? page : posix.join(posix.dirname(page), path)
        links.push({ page, target: target.replace(/(?:\.(?:md|html))?$/, '.md'), anchor })
      }
    }
  })
}

/** VitePress itself looks at dead pages alone. */
function refuseDeadAnchors() {
  const dead = links.filter(
    ({ target, anchor }) => anchors.has(target) && !anchors.get(target).has(anchor),
  )
  const lines = new Set(dead.map(({ page, target, anchor }) => `${page}: ${target}#${anchor}`))
  if (lines.size > 0) throw new Error(`These anchors are dead:\n${[...lines].join('\n')}`)
}

export default defineConfig({
  buildEnd: refuseDeadAnchors,
  title: 'Crossgear',
  description: 'One job broker for Gearman, Faktory and GearMonkey',
  cleanUrls: true,
  outDir: './.vitepress/dist',
  cacheDir: './.vitepress/cache',
  markdown: {
    config: (markdown) => {
      noteAnchors(markdown)
      linkSources(markdown)
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: sideBar,
  },
})
