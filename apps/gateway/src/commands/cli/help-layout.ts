import { Help } from 'commander'

/** Least width for a description next to its option; below that it moves to the next line. */
const minHelpWidth = 40
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
  if (width - termWidth - 4 >= minHelpWidth) {
    return Help.prototype.formatItem.call(help, term, termWidth, description, help)
  }
  const lines = help.boxWrap(description, width - indent.length).split('\n')
  return [`  ${term}`, ...lines.map((line) => indent + line)].join('\n')
}
