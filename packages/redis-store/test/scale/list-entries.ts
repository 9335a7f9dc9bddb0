/** Entries of a list of this length that the commands of a script read, and count up to the gaps that they close. */
export function entriesOf(script: readonly (readonly string[])[], length: number): number {
  return script.reduce((sum, [name, , first, last]) => {
    if (name === 'lrange') return sum + Number(last) - Number(first) + 1
    if (name === 'lset' && last === '-')
      return sum + Math.min(Number(first), length - Number(first))
    return (name === 'lrem' && last !== '-') || name === 'lpos' ? sum + length : sum
  }, 0)
}
