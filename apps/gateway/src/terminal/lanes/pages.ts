import { pageSizes } from '../../api/schemas/common.ts'

interface Page {
  readonly cursor: string | null
}

/** All pages of a list; no more than `most` of them. */
export async function allPages<Answer extends Page>(
  ask: (query: { readonly limit: number; readonly cursor?: string }) => Promise<Answer>,
  max = Infinity,
): Promise<readonly Answer[]> {
  const pages: Answer[] = []
  let cursor: string | null = null
  do {
    const page: Answer = await ask({ limit: pageSizes.max, ...(cursor !== null && { cursor }) })
    pages.push(page)
    cursor = page.cursor
  } while (cursor !== null && pages.length < max)
  return pages
}
