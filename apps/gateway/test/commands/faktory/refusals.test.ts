import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runFaktory } from '../../../src/commands/faktory/run.ts'
import { configFolder } from './support/faktory-command.ts'

type Files = Readonly<Record<string, string>>

/** The error of a start that is refused; `DIR` stands for the config folder. */
async function refusal(
  files: Files,
  words: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<string> {
  const folder = await configFolder(files)
  const given = words.includes('-c') ? words : ['-c', folder, ...words]
  const running = runFaktory(given, {
    version: '0',
    env,
    out: { write: () => undefined },
    serve: () => Promise.reject(new Error('it is not refused')),
  })
  const error = await running.then(
    () => new Error('nothing was refused'),
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'StartError', exitCode: 2 })
  return (error as Error).message.replaceAll(folder, 'DIR')
}

const a = 'conf.d/a.toml'
const inA = `in DIR/${a}`

describe('a config file is refused by name for', () => {
  test.each<readonly [string, string, string]>([
    ['[statsd]', '[statsd]\nlocation = "x:1"', `[statsd] ${inA} cannot be obeyed: figures are`],
    ['[queues.x]', '[queues.x]\nbackpressure = 9', `[queues] ${inA} cannot be obeyed: queues need`],
    ['[redis]', '[redis]\nbinding = ":1"', `[redis] ${inA} cannot be obeyed: programs reach`],
    ['[license]', '[license]\nkey = "x"', `[license] ${inA} cannot be obeyed: no license`],
    [
      'a misspelt section',
      '[throtles.x]',
      `[throtles] ${inA} is unknown: did you mean [throttles]?`,
    ],
    ['another section', '[oem]\ntitle = "x"', `[oem] ${inA} is unknown: remove it, or see docs/`],
    ['a key outside of all sections', 'debug = true', `debug ${inA} is unknown: remove it`],
    [
      'a misspelt key',
      '[faktory]\npasword = "x"',
      `faktory.pasword ${inA} is unknown: use password,`,
    ],
    [
      'a key of another section',
      '[web]\ntitle = "x"',
      `web.title ${inA} is unknown: use binding or`,
    ],
    ['a section that is a value', 'faktory = 1', `faktory ${inA} is not a table: write [faktory].`],
    [
      'a password that is no text',
      '[faktory]\npassword = 5',
      `faktory.password ${inA} is 5: give a p`,
    ],
    ['an empty password', '[web]\npassword = ""', `web.password ${inA} is "***": give a password`],
    [
      'a binding without a port',
      '[web]\nbinding = "x"',
      `web.binding ${inA} is "x": give host:port`,
    ],
    [
      'a binding that is no text',
      '[faktory]\nbinding = 7419',
      `faktory.binding ${inA} is 7419: give`,
    ],
    ['a throttle without a limit', '[throttles.q]', `throttles.q ${inA} sets no limit: give`],
    [
      'a wrong key of a throttle',
      '[throttles.q]\nconcurency = 1',
      `throttles.q.concurency ${inA} is u`,
    ],
    [
      'a wrong value of a throttle',
      '[throttles.q]\nworker = 0',
      `throttles.q.worker ${inA} is 0: gi`,
    ],
    [
      'a cron that is no list',
      '[cron]\nschedule = "@daily"',
      `cron ${inA} is not a list: write [[`,
    ],
    [
      'a wrong schedule',
      '[[cron]]\nschedule = "@daily"\njob = { type = "a" }\n[[cron]]\nschedule = "61 * * * *"\njob = { type = "b" }',
      `cron entry 2 ${inA}: schedule "61 * * * *"`,
    ],
    ['text that is no TOML', '[faktory]\npassword = ', `DIR/${a} is not TOML: `],
  ])('%s', async (_name, text, line) => {
    expect((await refusal({ [a]: text })).slice(0, line.length)).toBe(line)
  })

  test('text that is no TOML, with the line', async () => {
    expect(await refusal({ [a]: '[faktory]\npassword = ' })).toMatch(/\(line 2, column \d+\)\.$/)
  })

  test.each([
    ['[faktory]\npassword = "x"', 'faktory.password'],
    ['[web]\nbinding = ":1"', 'web.binding'],
    ['[throttles]\nq = { worker = 1 }', 'throttles.q'],
    ['[[cron]]\nname = "n"\nschedule = "@daily"\njob = { type = "x" }', 'cron entry n'],
  ])('a setting that another file has too: %j', async (text, what) => {
    expect(await refusal({ [a]: text, 'conf.d/b.toml': text })).toBe(
      `${what} is ${inA} and in DIR/conf.d/b.toml: keep one of them.`,
    )
  })

  test('tables that are in the file of CROSSGEAR_CONFIG too', async () => {
    const text = '[throttles.q]\nworker = 1'
    const other = join(await configFolder({ 'crossgear.toml': text }), 'crossgear.toml')
    expect(await refusal({ [a]: text }, [], { CROSSGEAR_CONFIG: other })).toBe(
      'throttles is in the file of CROSSGEAR_CONFIG and in conf.d: keep it in one of them.',
    )
  })

  test('a file that is a folder', async () => {
    const folder = await configFolder({ [a]: '' })
    mkdirSync(join(folder, 'conf.d/b.toml'))
    const message = await refusal({}, ['-c', folder])
    expect(message).toContain(`${folder}/conf.d/b.toml cannot be read (EISDIR`)
  })
})

describe('the command line is refused for', () => {
  test.each<readonly [readonly string[], string]>([
    [['-x'], "Unknown option '-x': see crossgear faktory --help."],
    [['-b'], "Option '-b <binding>' argument missing: see crossgear faktory --help."],
    [['--no-tls'], "Unknown option '--no-tls': see crossgear faktory --help."],
    [['-b', '7419'], '-b is "7419": give host:port, such as localhost:7419, or :7419 for every'],
    [['-b', 'host:70000'], '-b is "host:70000": give host:port'],
    [['-w', '::1:7420'], '-w is "::1:7420": give host:port'],
    [
      ['-e', 'test'],
      "Option '-e <environment>' argument 'test' is invalid. Allowed choices are dev",
    ],
    [['-l', 'loud'], "Option '-l <level>' argument 'loud' is invalid. Allowed choices are err"],
    [['-c', '/no/such'], '-c names /no/such, which is not there: give a folder.'],
    [['-c', '/dev/null'], '/dev/null/conf.d cannot be read (ENOTDIR'],
  ])('%j', async (words, line) => {
    expect((await refusal({}, words)).slice(0, line.length)).toBe(line)
  })
})

describe('the environment is refused for', () => {
  test('an unknown FAKTORY_ENV, unless -e says another', async () => {
    const env = { FAKTORY_ENV: 'test' }
    expect(await refusal({}, [], env)).toBe(
      'FAKTORY_ENV is "test": give development, staging, production.',
    )
    expect(await refusal({}, ['-e', 'staging'], env)).toMatch(/^The environment is staging/)
  })

  test.each([
    [['-e', 'production'], {}],
    [['-e', 'staging'], {}],
    [[], { FAKTORY_ENV: 'production' }],
    [['-e', 'production'], { FAKTORY_SKIP_PASSWORD: 'no', FAKTORY_PASSWORD: '' }],
  ])('no password: %j %j', async (words, env) => {
    expect(await refusal({}, words, env)).toMatch(
      /^The environment is (?:production|staging), which needs a password: set FAKTORY_PASSWORD, or password in the section \[faktory\] of a file in DIR\/conf\.d, or write it into DIR\/password\./,
    )
  })

  test('a password file that is not there, or empty', async () => {
    expect(await refusal({}, [], { FAKTORY_PASSWORD: '/no/such' })).toMatch(
      /^FAKTORY_PASSWORD names \/no\/such: a value that begins with \/ must be a file/,
    )
    expect(await refusal({ [a]: '[faktory]\npassword = "/no/such"' })).toMatch(
      /^faktory\.password in DIR\/conf\.d\/a\.toml names \/no\/such: /,
    )
    expect(await refusal({ password: '\n' }, ['-e', 'production'])).toMatch(
      /^The password file names DIR\/password, which is empty/,
    )
  })

  test.each([
    ['public.cert.pem', 'private.key.pem'],
    ['private.key.pem', 'public.cert.pem'],
  ])('%s without %s', async (one, other) => {
    expect(await refusal({ [one]: '' })).toBe(
      `DIR/${one} is there without DIR/${other}: TLS needs both, so add the other or remove it.`,
    )
  })

  test('an unknown variable of Crossgear', async () => {
    expect(await refusal({}, [], { CROSSGEAR_GEARMAN_PROT: '1' })).toContain('did you mean')
  })
})
