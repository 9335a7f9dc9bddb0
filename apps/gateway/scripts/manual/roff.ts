/** Text for man pages: a backslash, or a sign at the start of a line, is no command of roff. */
export function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')
}

export function bold(text: string): string {
  return `\\fB${plain(text)}\\fR`
}

export function italic(text: string): string {
  return `\\fI${plain(text)}\\fR`
}

/** A term and what it is. Paragraphs after the first one stay indented. */
export function item(term: string, [first = '', ...more]: readonly string[]): string {
  return ['.TP', term, first, ...more.flatMap((one) => ['.IP', one])].join('\n')
}

/** Lines as they are, for a terminal or a file. */
export function example(lines: readonly string[]): string {
  return ['.PP', '.in +4n', '.EX', ...lines.map(plain), '.EE', '.in'].join('\n')
}

export interface Page {
  /** `crossgear.toml` */
  readonly name: string
  readonly section: 1 | 5
  readonly manual: string
  readonly source: string
  /** Of the last change, as `2026-01-31`. */
  readonly date: string
  readonly parts: readonly { readonly title: string; readonly text: readonly string[] }[]
}

export function page({ name, section, manual, source, date, parts }: Page): string {
  const title = `.TH ${name.toUpperCase()} ${section} "${date}" "${source}" "${manual}"`
  const body = parts.flatMap((part) => [`.SH ${part.title}`, ...part.text])
  return `${[title, ...body].join('\n')}\n`
}
