/** One option of a command: its parser, its help, shell completion and manual pages come from it; of a setting also its variable and its key in the file. */
export interface OptionRow {
  /** `gearmanPort` and the API's `older_than_seconds` are `--gearman-port` and `--older-than-seconds`; a single letter is `-b`. */
  readonly name: string
  /** A letter that stands for the name. */
  readonly short?: string
  /** The name of its value; absent where it takes none. */
  readonly argument?: string
  readonly help: string
  /** All values that it takes. Any. */
  readonly choices?: readonly string[]
  /** Checks and turns its text; `before`: of the same option, where it may be repeated. The text, if it is one of `choices`. */
  readonly read?: (text: string, before: unknown) => unknown
  /** The value of an option that is not given. None. */
  readonly usual?: number
  /** The heading above it in the help. */
  readonly group?: string
}

/** A positional argument of a command. */
export interface ArgumentRow {
  readonly name: string
  readonly help: string
  readonly isRequired?: boolean
  readonly isMany?: boolean
  /** All values that it takes, for completion. Any. */
  readonly choices?: readonly string[]
}

/** A command: its parser, help, completion and manual page are made from it. */
export interface CommandForm {
  /** Behind `crossgear`; none: the program itself. */
  readonly words: readonly string[]
  readonly summary: string
  readonly arguments?: readonly ArgumentRow[]
  readonly options?: readonly OptionRow[]
  /** Behind the options in its help. */
  readonly helpAfter?: string
}

/** Options that say where the gateway has its store, and its settings. */
export const folderAndFile: readonly OptionRow[] = [
  {
    name: 'dataDir',
    argument: 'path',
    help: "the gateway's: its store runs there, or has its jobs there; if there is no --redis-url",
  },
  {
    name: 'config',
    argument: 'file',
    help: "the gateway's settings file: its store, and its routes, which name the home queues",
  },
]

/** Words of a name in camel or snake case. */
export function separated(name: string, separator: '-' | '_'): string {
  return name.replaceAll(/_|(?=[A-Z])/g, separator).toLowerCase()
}

/** The form of an option that is its name. */
export function flagOfRow({ name }: Pick<OptionRow, 'name'>): string {
  return name.length === 1 ? `-${name}` : `--${separated(name, '-')}`
}

/** All forms of an option. */
export function flagsOf(row: OptionRow): readonly string[] {
  return [flagOfRow(row), ...(row.short === undefined ? [] : [`-${row.short}`])]
}
