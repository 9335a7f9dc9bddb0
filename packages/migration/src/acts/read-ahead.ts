/** The same items, the next one always under way while one is dealt with. */
export async function* aheadOf<Item>(items: AsyncGenerator<Item>): AsyncGenerator<Item> {
  let next = items.next()
  try {
    for (;;) {
      const result = await next
      if (result.done === true) return
      next = items.next()
      // Its error is told when its turn comes.
      next.catch(() => undefined)
      yield result.value
    }
  } finally {
    await next.catch(() => undefined)
    await items.return(undefined)
  }
}
