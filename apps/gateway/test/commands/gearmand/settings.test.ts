import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chooseDataDir } from '../../../src/commands/gearmand/settings.ts'
import { gearmandOptions } from '../../../src/commands/gearmand/option-table.ts'
import { parseWords } from '../../../src/commands/gearmand/parse-words.ts'
import { inGearmandWords, settle } from '../../../src/commands/gearmand/settings.ts'
import { keyOf, variablesOf } from '../../../src/config/options.ts'
import { oneLine } from '../../../src/errors.ts'
import { checkOpenNetwork } from '../../../src/server/open-network.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const settings = (words: string, env: Record<string, string> = {}) =>
  settle(parseWords(words.split(' ').filter((word) => word !== '')), env)

describe("gearmand's options", () => {
  test.each([
    ['', { gearmanPort: 4730, faktoryPort: 'off', webPort: 'off', httpPort: 'off', host: '*' }],
    ['', { workerWakeup: 0, jobRetries: 0, roundRobin: false, exceptions: false }],
    ['-p 1 -L 10.0.0.1', { gearmanPort: 1, host: '10.0.0.1' }],
    ['-j -1 -w -1', { jobRetries: 0, workerWakeup: 0 }],
    ['-r http', { httpPort: 8080 }],
    ['-r http --http-port 1', { httpPort: 1 }],
    [
      '-R -j 3 -w 1 --exceptions',
      { roundRobin: true, jobRetries: 3, workerWakeup: 1, exceptions: true },
    ],
    ['', { backlog: 1024, keepaliveSeconds: 60 }],
    ['-b 32 --keepalive-idle 300', { backlog: 32, keepaliveSeconds: 300 }],
    ['-b 0 --keepalive-idle 99999', { backlog: 1, keepaliveSeconds: 32_767 }],
    ['--keepalive --keepalive-idle -1', { keepaliveSeconds: 60 }],
    ['-f 500 --job-handle-prefix J', { maxConnections: 500, handlePrefix: 'J' }],
    ['', { gearmandVersion: '1.1' }],
    ['--gearmand-version 1.1 -j 0', { gearmandVersion: '1.1', jobRetries: 0 }],
    ['--gearmand-version 2.0', { gearmandVersion: '2.0', jobRetries: 0 }],
    ['--gearmand-version 2.0 -j 0', { jobRetries: 1 }],
    ['--gearmand-version 2.0 -j -1', { jobRetries: 0 }],
    ['--gearmand-version 2.0 -j 3', { jobRetries: 3 }],
    [`--job-handle-prefix ${'x'.repeat(60)}`, { handlePrefix: 'x'.repeat(38) }],
    [
      '--ssl --ssl-certificate /c --ssl-key /k --ssl-ca-file /a',
      { gearmanTlsCert: '/c', gearmanTlsKey: '/k', gearmanTlsCa: '/a' },
    ],
  ])('%j means %j', (words, config) => expect(settings(words).config).toMatchObject(config))

  test('win over GEARMAND_PORT, and that over the default', () => {
    const env = { GEARMAND_PORT: '4999' }
    expect(settings('', env).config.gearmanPort).toBe(4999)
    expect(settings('-p 4998', env).config.gearmanPort).toBe(4998)
  })

  test('leave unset options to the variables of the gateway', () => {
    const env = {
      CROSSGEAR_REDIS_URL: 'redis://x:1/2',
      CROSSGEAR_HOST: '::1',
      CROSSGEAR_WEB_PORT: '1',
    }
    const { config } = settings('', env)
    expect([config.redisUrl, config.host, config.webPort]).toEqual(['redis://x:1/2', '::1', 1])
  })

  const differing = [
    ['host', '10.0.0.9', '10.0.0.9'],
    ['faktoryPort', '7001', 7001],
    ['webPort', '7002', 7002],
    ['httpPort', '7003', 7003],
    ['gearmanPort', '7004', 7004],
    ['workerWakeup', '3', 3],
    ['allowedHosts', 'a.example', 'a.example'],
    ['drainSeconds', '9', 9],
    ['dataDir', '/data', '/data'],
  ] as const

  test.each(differing)('the default of %s gives way to its variable', (name, text, value) => {
    const variable = variablesOf(name)[0] ?? ''
    expect(settings('-r http', { [variable]: text }).config[name]).toBe(value)
  })

  test.each(differing)(
    'the default of %s gives way to its key in the file',
    async (name, text, value) => {
      const file = join(await temporaryFolder(), 'crossgear.toml')
      const isNumber = typeof value === 'number'
      writeFileSync(file, `${keyOf(name)} = ${isNumber ? text : JSON.stringify(text)}\n`)
      expect(settings('-r http', { CROSSGEAR_CONFIG: file }).config[name]).toBe(value)
    },
  )

  test('a variable of the gateway wins over GEARMAND_PORT, and that over the file', async () => {
    const file = join(await temporaryFolder(), 'crossgear.toml')
    writeFileSync(file, 'gearman_port = 4001\n')
    const env = { CROSSGEAR_CONFIG: file, GEARMAND_PORT: '4002' }
    expect(settings('', env).config.gearmanPort).toBe(4002)
    expect(settings('', { ...env, CROSSGEAR_GEARMAN_PORT: '4003' }).config.gearmanPort).toBe(4003)
  })

  test('an HTTP port that a variable closes stays closed, and the log says so', () => {
    const { config, notes } = settings('-r http', { CROSSGEAR_HTTP_PORT: 'off' })
    expect(config.httpPort).toBe('off')
    expect(notes).toEqual([expect.stringContaining('--protocol http has no effect')])
  })

  test('an error names options of gearmand, and else the variable', async () => {
    const { config } = settings('', { CROSSGEAR_WEB_PORT: '1' })
    const refused = await checkOpenNetwork(config).catch((error: unknown) => oneLine(error))
    expect(inGearmandWords(String(refused))).toBe(
      'The web port would be open to the network without a password (--listen *): give CROSSGEAR_WEB_PASSWORD, close it with CROSSGEAR_WEB_PORT=off, or allow it with CROSSGEAR_WEB_OPEN=yes where every machine of the network may read figures and jobs.',
    )
  })

  test.each([
    ['-q bogus', 'Error while initializing the queue : bogus'],
    ['-r bogus', 'Unknown protocol module : bogus'],
    ['--verbose info', 'Invalid value for --verbose supplied'],
    ['--gearmand-version 3', '--gearmand-version is "3": give 1.1 or 2.0.'],
    ['--ssl', '--ssl needs --ssl-certificate and --ssl-key'],
    [
      '-p 70000',
      '--gearman-port is "70000": give a port from 0 to 65535 (0 takes a free one), or off.',
    ],
  ])('%s is refused with code 1', (words, message) => {
    expect(() => settings(words)).toThrow(expect.objectContaining({ message, exitCode: 1 }))
  })

  test('without effect are logged, a line each', () => {
    const idle = gearmandOptions.filter(({ effect }) => effect !== 'some')
    const words = idle
      .map(({ name, argument }) => (argument ? `--${name}=1` : `--${name}`))
      .join(' ')
    const { notes } = settings(words.replace('queue-type=1', 'queue-type=redis'))
    expect(notes).toHaveLength(idle.length)
    for (const [at, { name }] of idle.entries()) expect(notes[at]).toContain(`--${name} `)
    expect(notes.find((note) => note.startsWith('--queue-type redis'))).toMatch(
      /jobs are persistent in the store\. .*docs\/.*\.md/,
    )
  })

  test('log that functions take turns with 2.0 anyway', () => {
    expect(settings('--gearmand-version 2.0 -R').notes).toEqual([
      '--round-robin has no effect: functions of 2.0 always take turns.',
    ])
    expect(settings('-R -j 0', { CROSSGEAR_GEARMAND_VERSION: '2.0' }).config.jobRetries).toBe(1)
  })

  test('with an effect are not logged', () => {
    expect(settings('-p 1 -j 1 -R --verbose DEBUG -P /x -l none -u nobody').notes).toEqual([])
  })
})

describe('the folder of the data', () => {
  test('is in the working folder', async () => {
    const cwd = await temporaryFolder()
    expect(chooseDataDir(cwd, '/')).toBe(join(cwd, 'crossgear-data'))
  })

  test('is never at the root of the file system', async () => {
    const home = await temporaryFolder()
    expect(['/var/lib/crossgear', join(home, 'crossgear-data')]).toContain(chooseDataDir('/', home))
  })

  test('is an existing one', async () => {
    const home = await temporaryFolder()
    mkdirSync(join(home, 'crossgear-data'))
    expect(chooseDataDir('/proc', home)).toBe(join(home, 'crossgear-data'))
  })
})
