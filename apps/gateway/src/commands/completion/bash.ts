import { flagOfRow, flagsOf } from '../../config/option-row.ts'
import { type Candidates, quoted, takesFile } from './candidates.ts'

/** The function that bash calls; without the package bash-completion, and with bash 3 too. */
export function bashScript(all: readonly Candidates[]): string {
  const paths = all.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]))
  return `# Completion of crossgear for bash. Made by: crossgear completion bash
_crossgear() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' words='' at
  # bash splits --option=value at the sign.
  if [[ $previous == '=' ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [[ $current == '=' ]]; then current=''; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$command/\${COMP_WORDS[at]}" in
      ${paths.join(' | ')}) command="$command/\${COMP_WORDS[at]}" ;;
    esac
  done
  COMPREPLY=()
  case "$command $previous" in
${all.flatMap(valueCases).join('\n')}
  esac
  case "$command" in
${all.map(wordCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _crossgear crossgear
`
}

/** The values of options that take one: words, files, or nothing that is known. */
function valueCases({ path, options }: Candidates): string[] {
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

function wordCase({ path, commands, values, options }: Candidates): string {
  const flags = options.map(flagOfRow)
  const first = [...commands.map(({ word }) => word), ...values]
  const words = `if [[ $current == -* ]]; then words=${quoted(flags.join(' '))}; else words=${quoted(first.join(' '))}; fi`
  return `    ${quoted(path)}) ${words} ;;`
}
