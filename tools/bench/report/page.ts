import { readFileSync } from 'node:fs'
import { UsageError } from '../command-line.ts'

const beginMark = '<!-- results: written by npm run bench -- --page -->'
const endMark = '<!-- end of results -->'

/** The text of a page with room for results. Throws a UsageError if it has none. */
export function readPage(path: string): string {
  try {
    const page = readFileSync(path, 'utf8')
    replaceResults(page, '')
    return page
  } catch (error) {
    throw new UsageError(
      `--page takes a page that is there and has the two marks (${(error as Error).message})`,
      { cause: error },
    )
  }
}

/** The page with new results between its two marks; the rest stays. */
export function replaceResults(page: string, results: string): string {
  const begin = page.indexOf(beginMark)
  const end = page.indexOf(endMark)
  if (begin < 0 || end < begin)
    throw new Error(`the page lacks the marks ${beginMark} and ${endMark}`)
  return `${page.slice(0, begin + beginMark.length)}\n\n${results}\n\n${page.slice(end)}`
}
