// `npm run docs:site` builds the site. A page that no group names stands in the last one.
import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'

const docs = new URL('../', import.meta.url)

const groups = [
  {
    text: 'Start',
    items: [
      { text: 'First steps', link: '/start' },
      { text: 'The bridge', link: '/bridge' },
      { text: 'Compatibility', link: '/compatibility' },
    ],
  },
  {
    text: 'Protocols',
    items: [
      { text: 'Gearman', link: '/gearman' },
      { text: 'Faktory', link: '/faktory' },
      { text: 'GearMonkey', link: '/gearmonkey' },
    ],
  },
  {
    text: 'Move',
    items: [
      { text: 'From gearmand', link: '/moving-from-gearmand' },
      { text: 'From Faktory', link: '/moving-from-faktory' },
      { text: 'Queues of other systems', link: '/migration' },
    ],
  },
  {
    text: 'Install',
    items: [
      { text: 'Debian', link: '/debian' },
      { text: 'systemd', link: '/systemd' },
      { text: 'Container', link: '/container' },
      { text: 'Kubernetes', link: '/kubernetes' },
    ],
  },
  {
    text: 'Operate',
    items: [
      { text: 'Operating', link: '/operating' },
      { text: 'The dashboard', link: '/dashboard' },
      { text: 'Upgrade', link: '/upgrade' },
      { text: 'Backup', link: '/backup' },
      { text: 'Durability', link: '/durability' },
      { text: 'Reliability', link: '/reliability' },
      { text: 'Security', link: '/security' },
      { text: 'Limits', link: '/limits' },
      { text: 'Tuning', link: '/tuning' },
      { text: 'Several gateways', link: '/several-gateways' },
      { text: 'The admin API', link: '/api' },
      { text: 'Metrics', link: '/metrics' },
      { text: 'Tracing', link: '/tracing' },
      { text: 'Benchmarks', link: '/benchmarks' },
      { text: 'History of the benchmarks', link: '/benchmarks-history' },
    ],
  },
]

const named = new Set(groups.flatMap(({ items }) => items.map(({ link }) => link)))
const others = readdirSync(docs)
  .filter((name) => name.endsWith('.md') && name !== 'index.md')
  .map((name) => ({ name, link: `/${name.replace(/\.md$/, '')}` }))
  .filter(({ link }) => !named.has(link))
  .map(({ name, link }) => {
    const [, text = name] = /^# (.*)$/m.exec(readFileSync(new URL(name, docs), 'utf8')) ?? []
    return { text, link }
  })

/** The address at which files outside of this folder are shown. The release knows its repository; elsewhere they are no links. */
const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_SHA: commit } = process.env
const sources = repository === undefined ? undefined : `${server}/${repository}/blob/${commit}/`

function linkSources(markdown) {
  markdown.core.ruler.push('sources', ({ tokens }) => {
    for (const { children } of tokens) {
      for (const [at, token] of (children ?? []).entries()) {
        const path = token.type === 'link_open' ? token.attrGet('href') : undefined
        if (!path?.startsWith('../')) continue
        if (sources !== undefined) token.attrSet('href', sources + path.slice('../'.length))
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

export default defineConfig({
  title: 'Crossgear',
  description: 'One job broker for Gearman, Faktory and GearMonkey',
  cleanUrls: true,
  outDir: './.vitepress/dist',
  cacheDir: './.vitepress/cache',
  markdown: { config: linkSources },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [...groups, ...(others.length > 0 ? [{ text: 'More', items: others }] : [])],
  },
})
