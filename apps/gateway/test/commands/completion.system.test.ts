import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacks } from '@crossgear/tools/lacks'
import { describe, expect, test } from 'vitest'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { commandTable } from '../../src/commands/command-table.ts'
import { completionScript } from '../../src/commands/completion/run-completion.ts'
import { shells } from '../../src/commands/completion/names.ts'
import { flagsOf } from '../../src/config/option-row.ts'
import { flagOf, optionNames, optionRow } from '../../src/config/options.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** In CI nothing may be absent. */
/** The candidates that bash offers behind these words, of which the last is not finished. */
function offered(...words: readonly string[]): readonly string[] {
  const all = ['crossgear', ...words]
  const quoted = all.map((word) => `'${word}'`).join(' ')
  const script = `${completionScript('bash')}
COMP_WORDS=(${quoted}); COMP_CWORD=${all.length - 1}
_crossgear; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
  if (stderr !== '') throw new Error(stderr)
  return stdout.split('\n').filter((word) => word !== '')
}

describe.skipIf(lacks('bash', '-c', 'true'))('bash completes', () => {
  test('commands, and commands below them', () => {
    expect(offered('')).toEqual(
      expect.arrayContaining(['serve', 'jobs', 'top', 'health', 'migrate', 'mirror', 'completion']),
    )
    expect(offered('jo')).toEqual(['jobs'])
    expect(offered('functions', '')).toEqual(expect.arrayContaining(['list', 'open', 'close']))
    expect(offered('jobs', 're')).toEqual(['retry', 'resubmit', 'replace'])
    expect(offered('completion', '')).toEqual([...shells])
  })

  test('the options of the command at hand, and no others', () => {
    expect(offered('jobs', 'move', '--to')).toEqual(['--to-queue'])
    expect(offered('jobs', 'list', '--to')).toEqual([])
    expect(offered('--gearman-p')).toEqual(['--gearman-port'])
    expect(offered('serve', '--')).toEqual(expect.arrayContaining(optionNames.map(flagOf)))
    expect(offered('migrate', 'run', '--jour')).toEqual(['--journal'])
    expect(offered('gearmand', '--pid')).toEqual(['--pid-file'])
    expect(offered('faktory', '-e', 'pro')).toEqual(['production'])
    expect(offered('faktory', '-')).toEqual(
      expect.arrayContaining(['-b', '-w', '-e', '-l', '-d', '-c', '-v']),
    )
  })

  test('the values of an option, also after the sign =', () => {
    expect(offered('jobs', 'list', '--state', '')).toEqual([
      'waiting',
      'running',
      'scheduled',
      'retry',
      'dead',
    ])
    expect(offered('jobs', 'list', '--state', '=', 'de')).toEqual(['dead'])
    expect(offered('serve', '--log-level', 'tr')).toEqual(['trace'])
    expect(offered('serve', '--round-robin', '')).toEqual(['yes', 'no'])
    expect(offered('jobs', 'list', '--function', '')).toEqual([])
    expect(offered('serve', '--config', '/etc/hostn')).toEqual(['/etc/hostname'])
    expect(offered('gearmand', '--log-file', '/etc/hostn')).toEqual(['/etc/hostname'])
  })
})

describe.each(['zsh', 'fish'] as const)('%s', (shell) => {
  test('gets all options and their values', () => {
    const script = completionScript(shell)
    expect(script).toMatch(/state[^]*waiting[^]*to-queue/)
    for (const name of optionNames) {
      expect(script).toContain(flagOf(name).slice(2))
      for (const value of optionRow(name).value.choices ?? []) expect(script).toContain(value)
    }
  })
})

test.skipIf(lacks('zsh', '-c', 'true'))('needs zsh: its script is read without errors', () => {
  const { status, stderr } = spawnSync('zsh', ['-fn'], {
    input: completionScript('zsh'),
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
})

test.skipIf(lacks('zsh', '-c', 'true')).each([
  ['crossgear jo', 'crossgear jobs '],
  ['crossgear jobs ca', 'crossgear jobs cancel '],
  ['crossgear jobs move --to', 'crossgear jobs move --to-queue '],
  ['crossgear jobs list --state de', 'crossgear jobs list --state dead '],
  ['crossgear jobs list --state=de', 'crossgear jobs list --state=dead '],
  ['crossgear serve --config=/etc/hostn', 'crossgear serve --config=/etc/hostname '],
  ['crossgear completion z', 'crossgear completion zsh '],
] as const)('needs zsh: the tabulator key ends %s', async (typed, line) => {
  // The line is shown by a key of its own, so that no escape of the terminal stands in it.
  const script = `zmodload zsh/zpty && zpty shell zsh -fi
zpty -w shell "autoload -U compinit && compinit -D -u && source $1"
zpty -w shell 'show() { print -r -- "LINE<$BUFFER>" }; zle -N show; bindkey "^X" show'
zpty -w -n shell "$2"$'\\t\\x18'
zpty -r shell said '*LINE<crossgear*>*'
print -r -- "\${\${said##*LINE<}%%>*}"`
  const file = join(await temporaryFolder(), 'completion')
  writeFileSync(file, completionScript('zsh'))
  const words = ['-fc', script, 'zsh', file, typed]
  const { stdout } = spawnSync('zsh', words, { encoding: 'utf8', timeout: 120_000 })
  expect(stdout).toBe(`${line}\n`)
})

test.each(shells)('a pipe gets the whole script for %s', (shell) => {
  const words = [...bundleWords(), 'completion', shell]
  const line = ['-c', '"$@" | cat', 'sh', process.execPath, ...words]
  const { stdout } = spawnSync('sh', line, { encoding: 'utf8' })
  expect(stdout).toBe(completionScript(shell))
})

test.skipIf(lacks('fish', '-c', 'true')).each([
  ['crossgear jo', ['jobs']],
  ['crossgear jobs re', ['replace', 'resubmit', 'retry']],
  ['crossgear jobs move --to', ['--to-queue']],
  ['crossgear jobs list --state de', ['dead']],
  ['crossgear serve --log-level tr', ['trace']],
] as const)('needs fish: it completes %s', (line, candidates) => {
  const script = `${completionScript('fish')}\ncomplete -C '${line}'`
  const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((offer) => offer.split('\t')[0]),
  ).toEqual(candidates)
})

test('the table of commands has each option of each command once, with a help', () => {
  for (const { words, options = [] } of commandTable) {
    const flags = options.flatMap(flagsOf)
    expect([words, new Set(flags).size]).toEqual([words, flags.length])
    const bare = options.filter(({ help }) => help === '').map(flagsOf)
    expect([words, bare]).toEqual([words, []])
  }
})
