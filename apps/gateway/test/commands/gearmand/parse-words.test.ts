import { spawnSync } from 'node:child_process'
import { lacks } from '@crossgear/tools/lacks'
import { describe, expect, test } from 'vitest'
import { parseConfigText } from '../../../src/commands/gearmand/run.ts'
import { gearmandOptions } from '../../../src/commands/gearmand/option-table.ts'
import { parseWords } from '../../../src/commands/gearmand/parse-words.ts'

const given = (...words: readonly string[]) => Object.fromEntries(parseWords(words))

function mistake(...words: readonly string[]): string {
  try {
    parseWords(words)
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

const mistakes = [
  ['--bogus'],
  ['--bogus=1'],
  ['--prot=http'],
  ['-vvv'],
  ['extra'],
  ['--port='],
  ['--daemon=1'],
  ['-f', 'abc'],
  ['--mysql-port', 'abc'],
  ['-j', '--check-args'],
  ['--verbose', '-l', 'none'],
  ['--listen'],
  ['--threads', '3', '-t', '4'],
]

describe('the arguments of the command line', () => {
  test.each([
    [['-p', '1'], { port: '1' }],
    [['-p1'], { port: '1' }],
    [['--port', '1'], { port: '1' }],
    [['--port=1'], { port: '1' }],
    [['-dRp4731'], { daemon: '', 'round-robin': '', port: '4731' }],
    [['--keepalive-idle', '-1'], { 'keepalive-idle': '-1' }],
    [['--libpq-conninfo=host=x port=5'], { 'libpq-conninfo': 'host=x port=5' }],
    [['-l', 'stderr', '--verbose', 'DEBUG'], { 'log-file': 'stderr', verbose: 'DEBUG' }],
  ])('%j', (words, expected) => expect(given(...words)).toEqual(expected))

  test('may hold every option, long', () => {
    const words = gearmandOptions.map(({ name, argument }) =>
      argument ? `--${name}=1` : `--${name}`,
    )
    expect(Object.keys(given(...words))).toHaveLength(gearmandOptions.length)
  })

  test('may hold every option that has a letter, short', () => {
    const short = gearmandOptions.filter(({ short }) => short !== undefined)
    const words = short.flatMap(({ short, argument }) =>
      argument ? [`-${short!}1`] : [`-${short!}`],
    )
    expect(Object.keys(given(...words))).toEqual(short.map(({ name }) => name))
  })

  const gearmand = '/usr/sbin/gearmand'
  const lacksGearmand = lacks(gearmand, '--version')

  test.each(mistakes)('%s %s %s %s is a mistake', (...words) => {
    expect(mistake(...words.filter((word) => typeof word === 'string'))).not.toBe('')
  })

  test.skipIf(lacksGearmand).each(mistakes.map((words) => [words]))(
    '%j: gearmand says the same of it',
    (words) => {
      const { status, stderr } = spawnSync(gearmand, ['--check-args', ...words])
      expect(stderr.toString().trim()).toBe(`${gearmand}: ${mistake(...words)}`)
      expect(status).toBe(1)
    },
  )
})

describe('the config file', () => {
  test('holds options as on the command line, comments and name = value', () => {
    const text = [
      '# words of a comment --threads 3',
      '--port=4777 --verbose INFO',
      '-R',
      'log-file = /tmp/a b.log',
      'exceptions = true',
      'keepalive = false',
      'queue-type=libsqlite3',
      'stray words',
    ].join('\n')
    expect(Object.fromEntries(parseConfigText(text))).toEqual({
      port: '4777',
      verbose: 'INFO',
      'round-robin': '',
      'log-file': '/tmp/a b.log',
      exceptions: '',
      'queue-type': 'libsqlite3',
    })
  })

  test('with an unknown option is a mistake', () => {
    expect(() => parseConfigText('--bogus')).toThrow("unrecognised option '--bogus'")
  })
})
