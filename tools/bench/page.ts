const BEGIN = '<!-- results: written by npm run bench -- --page -->'
const END = '<!-- end of results -->'

/** The page with new results between its two marks; what stands around them stays. */
export function replaceResults(page: string, results: string): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`the page lacks the marks ${BEGIN} and ${END}`)
  return `${page.slice(0, begin + BEGIN.length)}\n\n${results}\n\n${page.slice(end)}`
}
