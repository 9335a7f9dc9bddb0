import { type OptionName, optionRow } from '../../src/config/options.ts'

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

/** Values of a key of the file: TOML has words of its own for yes and no. */
export function keyValues(name: OptionName): string {
  const { fallback, value } = optionRow(name)
  return typeof fallback === 'boolean' ? 'true or false' : value.expected
}
