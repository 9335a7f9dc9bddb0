/** The same items; the next one is fetched while one is being handled. */
export async function* aheadOf<Item>(items: AsyncGenerator<Item>): AsyncGenerator<Item> {
  let next = items.next()
  try {
    for (;;) {
      const result = await next
      if (result.done === true) return
      next = items.next()
      // Its error is thrown in turn, below.
      next.catch(() => undefined)
      yield result.value
    }
  } finally {
    await next.catch(() => undefined)
    await items.return(undefined)
  }
}
