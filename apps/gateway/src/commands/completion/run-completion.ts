import { commandTable } from '../command-table.ts'
import { completionName, type Shell, shells } from './names.ts'
import { type CommandForm, flagOfRow, flagsOf, type OptionRow } from '../../config/option-row.ts'

const usage = `Usage: crossgear ${completionName} ${shells.join('|')}

Prints a script that completes commands, options and their values:
  bash  source <(crossgear completion bash)
  zsh   source <(crossgear completion zsh)
  fish  crossgear completion fish | source
`

interface Output {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** The script that completes the program's words in a shell. */
export function completionScript(shell: Shell): string {
  return scriptOf(shell, commandTable)
}

/** Runs `crossgear completion`; returns the exit code. */
export function runCompletion(words: readonly string[], { stdout, stderr }: Output): number {
  const [word, ...more] = words
  if (word === '--help' || word === '-h') {
    stdout.write(usage)
    return 0
  }
  const shell = shells.find((each) => each === word)
  if (!shell || more.length > 0) {
    stderr.write(`Name a shell: crossgear ${completionName} ${shells.join('|')}.\n`)
    return 1
  }
  stdout.write(completionScript(shell))
  return 0
}

const scripts: Readonly<Record<Shell, (all: readonly Candidates[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** The script that completes the words of commands in a shell. */
function scriptOf(shell: Shell, table: readonly CommandForm[]): string {
  return scripts[shell](candidatesOf(table))
}

/** Words that may follow in a command, in the form that all shells' scripts are made of. */
interface Candidates {
  /** `/jobs/list`; empty: the program itself. */
  readonly path: string
  /** Commands below this one. */
  readonly commands: readonly { readonly word: string; readonly help: string }[]
  /** Values of its first argument, where they are few. */
  readonly values: readonly string[]
  readonly options: readonly OptionRow[]
}

function candidatesOf(table: readonly CommandForm[]): readonly Candidates[] {
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

/** Paths of all commands but the program itself. */
function pathsOf(all: readonly Candidates[]): readonly string[] {
  return all.flatMap(({ path }) => (path === '' ? [] : [path]))
}

/** Options whose value is a file. */
function takesFile({ argument }: OptionRow): boolean {
  return argument === 'file' || argument === 'path'
}

function pathOf(words: readonly string[], last = words.length - 1): string {
  return words
    .slice(0, last + 1)
    .map((word) => `/${word}`)
    .join('')
}

/** A text in single quotes, which no shell looks into. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The function that bash calls; without the package bash-completion, and with bash 3 too. */
function bashScript(all: readonly Candidates[]): string {
  return `# Completion of crossgear for bash. Made by: crossgear completion bash
_crossgear() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' words='' at
  # bash splits --option=value at the sign.
  if [[ $previous == '=' ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [[ $current == '=' ]]; then current=''; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$command/\${COMP_WORDS[at]}" in
      ${pathsOf(all).map(quoted).join(' | ')}) command="$command/\${COMP_WORDS[at]}" ;;
    esac
  done
  COMPREPLY=()
  case "$command $previous" in
${all.flatMap(bashValues).join('\n')}
  esac
  case "$command" in
${all.map(bashWords).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _crossgear crossgear
`
}

/** The values of options that take one: words, files, or nothing that is known. */
function bashValues({ path, options }: Candidates): string[] {
  const withValue = options.filter(({ argument }) => argument !== undefined)
  const patterns = (some: typeof options): string =>
    some.flatMap((option) => flagsOf(option).map((flag) => quoted(`${path} ${flag}`))).join(' | ')
  const known = withValue.filter(({ choices }) => choices)
  const files = withValue.filter((option) => !option.choices && takesFile(option))
  const others = withValue.filter((option) => !option.choices && !takesFile(option))
  return [
    ...known.map((option) => {
      const words = quoted((option.choices ?? []).join(' '))
      return `    ${patterns([option])}) COMPREPLY=($(compgen -W ${words} -- "$current")); return ;;`
    }),
    ...(files.length > 0
      ? [`    ${patterns(files)}) COMPREPLY=($(compgen -f -- "$current")); return ;;`]
      : []),
    ...(others.length > 0 ? [`    ${patterns(others)}) return ;;`] : []),
  ]
}

function bashWords({ path, commands, values, options }: Candidates): string {
  const flags = options.map(flagOfRow)
  const first = [...commands.map(({ word }) => word), ...values]
  const words = `if [[ $current == -* ]]; then words=${quoted(flags.join(' '))}; else words=${quoted(first.join(' '))}; fi`
  return `    ${quoted(path)}) ${words} ;;`
}

/** The function that zsh calls; to be sourced, or put into a folder of fpath as _crossgear. */
function zshScript(all: readonly Candidates[]): string {
  return `#compdef crossgear
# Completion of crossgear for zsh. Made by: crossgear completion zsh
_crossgear() {
  local command='' at
  local -a candidates
  for ((at = 2; at < CURRENT; at++)); do
    case "$command/\${words[at]}" in
      (${pathsOf(all).map(quoted).join('|')}) command="$command/\${words[at]}" ;;
    esac
  done
  local option="\${words[CURRENT-1]}"
  if [[ "\${words[CURRENT]}" == --*=* ]]; then
    option="\${words[CURRENT]%%=*}"
    compset -P 1 '*='
  fi
  case "$command $option" in
${all.flatMap(zshValues).join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    case "$command" in
${all
  .map(({ path, options }) =>
    zshWords(
      path,
      options.map((row) => [flagOfRow(row), row.help] as const),
    ),
  )
  .join('\n')}
    esac
  else
    case "$command" in
${all.map(({ path, commands, values }) => zshWords(path, [...commands.map(({ word, help }) => [word, help] as const), ...values.map((value) => [value, ''] as const)])).join('\n')}
    esac
  fi
  _describe 'crossgear' candidates
}
if [[ "$funcstack[1]" == _crossgear ]]; then _crossgear "$@"; else compdef _crossgear crossgear; fi
`
}

function zshValues({ path, options }: Candidates): string[] {
  return options.flatMap((option) => {
    if (option.argument === undefined) return []
    const pattern = flagsOf(option)
      .map((flag) => quoted(`${path} ${flag}`))
      .join('|')
    const act = option.choices
      ? `compadd -- ${option.choices.map(quoted).join(' ')}; return`
      : takesFile(option)
        ? '_files; return'
        : 'return 1'
    return [`    (${pattern}) ${act} ;;`]
  })
}

/** A colon stands between a word and its help. */
function zshWords(path: string, pairs: readonly (readonly [word: string, help: string])[]): string {
  const words = pairs.map(([word, help]) =>
    quoted(`${word.replaceAll(':', String.raw`\:`)}${help === '' ? '' : `:${help}`}`),
  )
  return `      (${quoted(path)}) candidates=(${words.join(' ')}) ;;`
}

/** The lines that fish reads, from its folder of completions or by source. */
function fishScript(all: readonly Candidates[]): string {
  return `# Completion of crossgear for fish. Made by: crossgear completion fish
set -g __crossgear_paths ${pathsOf(all).join(' ')}
function __crossgear_at
    set -l found ''
    for word in (commandline -opc)[2..-1]
        if contains -- "$found/$word" $__crossgear_paths
            set found "$found/$word"
        end
    end
    test "$found" = "$argv[1]"
end
complete -c crossgear -f
${all.flatMap(fishLines).join('\n')}
`
}

function fishLines({ path, commands, values, options }: Candidates): string[] {
  const at = `complete -c crossgear -n ${fishQuoted(`__crossgear_at '${path}'`)}`
  return [
    ...commands.map(({ word, help }) => `${at} -a ${word} -d ${fishQuoted(help)}`),
    ...values.map((value) => `${at} -a ${fishQuoted(value)}`),
    ...options.map((option) => {
      const names = flagsOf(option).map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      )
      const value =
        option.argument === undefined
          ? ''
          : option.choices
            ? ` -x -a ${fishQuoted(option.choices.join(' '))}`
            : takesFile(option)
              ? ' -r -F'
              : ' -x'
      return `${at} ${names.join(' ')}${value} -d ${fishQuoted(option.help)}`
    }),
  ]
}

/** fish knows two escapes within single quotes. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
}
