/**
 * Entries of a list of this length that the commands of a script read, take, push, search, and count up to the gaps that
 * they close.
 */
export function entriesOf(script: readonly (readonly string[])[], length: number): number {
  return script.reduce((sum, [name = '', , ...words]) => sum + entries(name, words, length), 0)
}

function entries(name: string, words: readonly string[], length: number): number {
  const [first, second] = words
  switch (name) {
    case 'lrange':
      return placeOf(second, length) - placeOf(first, length) + 1
    case 'lset':
      return second === '-' ? Math.min(Number(first), length - Number(first)) : 0
    case 'lrem':
      return second === '-' ? 0 : length
    case 'lpos':
    case 'linsert':
      return length
    case 'lpop':
    case 'rpop':
      return Number(first ?? 1)
    case 'lpush':
    case 'rpush':
      return words.length
    default:
      return 0
  }
}

/** An index as LRANGE has it: below 0 it counts from the end. */
function placeOf(index: string | undefined, length: number): number {
  const place = Number(index)
  return place < 0 ? length + place : place
}
