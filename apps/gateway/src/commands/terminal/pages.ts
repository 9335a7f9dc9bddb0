import { pageSizes } from '../../web/api/schemas/common.ts'

interface Page {
  readonly cursor: string | null
}

interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

/** All pages of a list; no more than `max` of them. */
export async function allPages<Some extends Page>(
  ask: (query: PageQuery) => Promise<Some>,
  max = Infinity,
): Promise<readonly Some[]> {
  const pages: Some[] = []
  let cursor: string | null = null
  do {
    const page: Some = await ask({ limit: pageSizes.max, ...(cursor !== null && { cursor }) })
    pages.push(page)
    cursor = page.cursor
  } while (cursor !== null && pages.length < max)
  return pages
}

/** Up to `limit` rows of a list from pages of `perPage` rows at most, with the first page. */
export async function rowsUpTo<Some extends Page, Row>(
  limit: number,
  perPage: number,
  ask: (query: PageQuery) => Promise<Some>,
  rowsOf: (page: Some) => readonly Row[],
): Promise<{ readonly rows: Row[]; readonly first: Some; readonly hasMore: boolean }> {
  const first = await ask({ limit: Math.min(limit, perPage) })
  const rows = [...rowsOf(first)]
  let { cursor } = first
  while (cursor !== null && rows.length < limit) {
    const page = await ask({ limit: Math.min(limit - rows.length, perPage), cursor })
    rows.push(...rowsOf(page))
    cursor = page.cursor
  }
  return { rows, first, hasMore: cursor !== null }
}
