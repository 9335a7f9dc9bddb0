import { Help } from 'commander'

/** Columns that a description needs to stand beside its option; with fewer it stands below. */
const MIN_BESIDE = 40
const INDENT = '      '
/** Longer lines are hard to read, however wide the terminal is. */
const MAX_WIDTH = 120
const DEFAULT_WIDTH = 80

/** Columns of help: those of the terminal, else 80. */
export function helpWidth(): number {
  const { columns } = process.stdout
  // A terminal that does not know its width says 0.
  return Math.min(columns > 0 ? columns : DEFAULT_WIDTH, MAX_WIDTH)
}

/** One option and its description, wrapped at the width of the help. */
export function formatItem(
  term: string,
  termWidth: number,
  description: string,
  help: Help,
): string {
  const width = help.helpWidth ?? DEFAULT_WIDTH
  if (width - termWidth - 4 >= MIN_BESIDE) {
    return Help.prototype.formatItem.call(help, term, termWidth, description, help)
  }
  const lines = help.boxWrap(description, width - INDENT.length).split('\n')
  return [`  ${term}`, ...lines.map((line) => INDENT + line)].join('\n')
}
