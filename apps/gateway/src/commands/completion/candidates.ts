import type { CommandForm, OptionRow } from '../../config/option-row.ts'

/** Words that may follow in a command, in the form that all shells' scripts are made of. */
export interface Candidates {
  /** `/jobs/list`; empty: the program itself. */
  readonly path: string
  /** Commands below it. */
  readonly commands: readonly Candidate[]
  /** Values of its first argument, where they are few. */
  readonly values: readonly string[]
  readonly options: readonly OptionRow[]
}

export interface Candidate {
  readonly word: string
  readonly help: string
}

export function candidatesOf(table: readonly CommandForm[]): readonly Candidates[] {
  const paths = [...new Set(table.flatMap(({ words }) => words.map((_, at) => pathOf(words, at))))]
  return ['', ...paths].map((path) => {
    const entry = table.find(({ words }) => pathOf(words) === path)
    const below = paths.filter((each) => each.slice(0, each.lastIndexOf('/')) === path)
    return {
      path,
      commands: below.map((each) => ({
        word: each.slice(path.length + 1),
        help: table.find(({ words }) => pathOf(words) === each)?.summary ?? '',
      })),
      values: entry?.arguments?.[0]?.choices ?? [],
      options: entry?.options ?? [],
    }
  })
}

/** Options whose value is a file. */
export function takesFile({ argument }: OptionRow): boolean {
  return argument === 'file' || argument === 'path'
}

function pathOf(words: readonly string[], last = words.length - 1): string {
  return words
    .slice(0, last + 1)
    .map((word) => `/${word}`)
    .join('')
}

/** A text in single quotes, which no shell looks into. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
