import { Help, Option } from 'commander'
import { flagOf, type OptionName, optionRow } from '../config/options.ts'

/** Without a default: only explicit flags may override the environment. */
export function commanderOption(name: OptionName): Option {
  const { argument, help, group, fallback, shownFallback } = optionRow(name)
  const shown = shownFallback ?? String(fallback)
  return new Option(`${flagOf(name)} <${argument}>`, `${help} (default: ${shown})`).helpGroup(
    `${group}:`,
  )
}

/** Least width for a description beside its option; below that it moves to the next line. */
const minBeside = 40
const indent = '      '
/** Longest lines of help, however wide the terminal is. */
const maxWidth = 120
const defaultWidth = 80

/** Columns of help: the terminal's, else 80. */
export function helpWidth(): number {
  const { columns } = process.stdout
  // A terminal of unknown width reports 0.
  return Math.min(columns > 0 ? columns : defaultWidth, maxWidth)
}

/** An option and its description, wrapped at the width of the help. */
export function formatItem(
  term: string,
  termWidth: number,
  description: string,
  help: Help,
): string {
  const width = help.helpWidth ?? defaultWidth
  if (width - termWidth - 4 >= minBeside) {
    return Help.prototype.formatItem.call(help, term, termWidth, description, help)
  }
  const lines = help.boxWrap(description, width - indent.length).split('\n')
  return [`  ${term}`, ...lines.map((line) => indent + line)].join('\n')
}
