import type { ValueKind } from './value-kinds.ts'

/** One setting. Its flag, its variables and its key in the file follow from its name in the table. */
export interface OptionRow<T> {
  readonly group: 'Doors' | 'Store' | 'Jobs' | 'Processes' | 'Limits' | 'Output'
  /** Stands for the value in `--help`. */
  readonly argument: string
  readonly help: string
  readonly value: ValueKind<T>
  readonly fallback: NoInfer<T>
  /** Shown in `--help` in the place of a fallback that is computed or unset. */
  readonly shownFallback?: string
  /** Key in the TOML file, where it is not the name in snake case; null: not in the file. */
  readonly key?: string | null
  /** Variables read besides CROSSGEAR_<NAME>, which wins over them. */
  readonly alsoEnv?: readonly string[]
  /** A value that begins with `/` names a file that holds the value. */
  readonly readsFile?: true
}

export function row<T>(definition: OptionRow<T>): OptionRow<T> {
  return definition
}
