/** Breaks a text into lines of at most so many columns; a longer word has a line of its own. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`
    } else lines.push(word)
  }
  return lines
}

/** A help text, which begins small and ends without a stop, as a sentence. */
export function sentence(help: string): string {
  return `${help.charAt(0).toUpperCase()}${help.slice(1)}.`
}
