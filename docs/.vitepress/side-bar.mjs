// The site's side bar: one group for each folder, with its index first and other pages by their titles.
import { readdirSync, readFileSync } from 'node:fs'

const docs = new URL('../', import.meta.url)

const folders = {
  start: 'Start',
  bridge: 'The bridge',
  migrate: 'Migrate',
  install: 'Install',
  operate: 'Operate',
  reference: 'Reference',
}

function titleOf(path) {
  const [, title = path] = /^# (.*)$/m.exec(readFileSync(new URL(path, docs), 'utf8')) ?? []
  return title
}

function pagesOf(folder) {
  const names = readdirSync(new URL(folder, docs)).filter((name) => name.endsWith('.md'))
  const pages = names.map((name) => ({
    text: titleOf(`${folder}/${name}`),
    link: `/${folder}/${name.replace(/(index)?\.md$/, '')}`,
  }))
  return pages.sort(
    (one, other) =>
      Number(other.link.endsWith('/')) - Number(one.link.endsWith('/')) ||
      one.text.localeCompare(other.text, 'en'),
  )
}

/** Groups as VitePress takes them. */
export const sideBar = Object.entries(folders).map(([folder, text]) => ({
  text,
  items: pagesOf(folder),
}))
