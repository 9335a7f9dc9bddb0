import { flagsOf } from '../../config/option-row.ts'
import { type Candidates, takesFile } from './candidates.ts'

/** The lines that fish reads, from its folder of completions or by source. */
export function fishScript(all: readonly Candidates[]): string {
  const paths = all.flatMap(({ path }) => (path === '' ? [] : [path]))
  return `# Completion of crossgear for fish. Made by: crossgear completion fish
set -g __crossgear_paths ${paths.join(' ')}
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
${all.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, commands, values, options }: Candidates): string[] {
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
