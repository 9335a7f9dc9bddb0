interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}

/** Rows of a list, and the pages that have them. */
export interface Found<Page, Row> {
  readonly rows: readonly Row[]
  readonly pages: readonly Page[]
  readonly hasMore: boolean
}

/**
 * Up to `limit` rows of a list. `perPage`: the most that one page may have; a list without pages has none.
 */
export async function rowsUpTo<Some extends object, Row>(
  limit: number,
  perPage: number | undefined,
  ask: (query: PageQuery) => Promise<Some>,
  rowsOf: (page: Some) => readonly Row[],
): Promise<Found<Some, Row> & { readonly first: Some }> {
  const size = (most: number) => (perPage === undefined ? {} : { limit: Math.min(most, perPage) })
  const first = await ask(size(limit))
  const pages = [first]
  const rows = [...rowsOf(first)]
  let cursor = cursorOf(first)
  while (cursor && rows.length < limit) {
    const page = await ask({ ...size(limit - rows.length), cursor })
    pages.push(page)
    rows.push(...rowsOf(page))
    cursor = cursorOf(page)
  }
  return { rows, pages, first, hasMore: Boolean(cursor) }
}

/** The cursor of the next page; a list without pages has none. */
function cursorOf(page: { readonly cursor?: string | null }): string | undefined {
  return page.cursor ?? undefined
}
