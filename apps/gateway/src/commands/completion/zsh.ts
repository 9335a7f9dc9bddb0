import { flagOfRow, flagsOf } from '../../config/option-row.ts'
import { type Candidates, quoted, takesFile } from './candidates.ts'

/** The function that zsh calls; to be sourced, or put into a folder of fpath as _crossgear. */
export function zshScript(all: readonly Candidates[]): string {
  const paths = all.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]))
  return `#compdef crossgear
# Completion of crossgear for zsh. Made by: crossgear completion zsh
_crossgear() {
  local command='' at
  local -a candidates
  for ((at = 2; at < CURRENT; at++)); do
    case "$command/\${words[at]}" in
      (${paths.join('|')}) command="$command/\${words[at]}" ;;
    esac
  done
  local option="\${words[CURRENT-1]}"
  if [[ "\${words[CURRENT]}" == --*=* ]]; then
    option="\${words[CURRENT]%%=*}"
    compset -P 1 '*='
  fi
  case "$command $option" in
${all.flatMap(valueCases).join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    case "$command" in
${all
  .map(({ path, options }) =>
    described(
      path,
      options.map((row) => [flagOfRow(row), row.help] as const),
    ),
  )
  .join('\n')}
    esac
  else
    case "$command" in
${all.map(({ path, commands, values }) => described(path, [...commands.map(({ word, help }) => [word, help] as const), ...values.map((value) => [value, ''] as const)])).join('\n')}
    esac
  fi
  _describe 'crossgear' candidates
}
if [[ "$funcstack[1]" == _crossgear ]]; then _crossgear "$@"; else compdef _crossgear crossgear; fi
`
}

type Pair = readonly [word: string, help: string]

function valueCases({ path, options }: Candidates): string[] {
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
function described(path: string, pairs: readonly Pair[]): string {
  const words = pairs.map(([word, help]) =>
    quoted(`${word.replaceAll(':', String.raw`\:`)}${help === '' ? '' : `:${help}`}`),
  )
  return `      (${quoted(path)}) candidates=(${words.join(' ')}) ;;`
}
