/** Members of an object under these names, without those that it does not have. */
export function picked<From extends object, Name extends keyof From>(
  from: From,
  names: readonly Name[],
): Partial<Pick<From, Name>> {
  const found: Partial<Pick<From, Name>> = {}
  for (const name of names) if (from[name] !== undefined) found[name] = from[name]
  return found
}

/** Items by what they have in common, in their order. */
export function grouped<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
