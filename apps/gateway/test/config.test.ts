import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig, type ConfigSources } from '../src/config/load-config.ts'
import { flagOf, keyOf, optionNames, optionRow, variablesOf } from '../src/config/options.ts'
import { StartError } from '../src/errors.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const load = (sources: Partial<ConfigSources> = {}) =>
  loadConfig({ flags: {}, env: {}, ...sources })

async function file(text: string): Promise<string> {
  const path = join(await temporaryFolder(), 'crossgear.toml')
  await writeFile(path, text)
  return path
}

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    expect(error.exitCode).toBe(2)
    expect(error.message).not.toContain('\n')
    return error.message
  }
  throw new Error('it was accepted')
}

describe('settings', () => {
  test('have their documented defaults', () => {
    const config = load()
    expect(config).toMatchObject({
      host: '127.0.0.1',
      gearmanPort: 4730,
      faktoryPort: 7419,
      webPort: 7420,
      redisUrl: undefined,
      dataDir: './crossgear-data',
      storePort: 'auto',
      jobRetries: 0,
      gearmandVersion: '1.1',
      drainSeconds: 10,
      bridgeFaktory: 'auto',
      maxPacketBytes: 67_108_864,
      logLevel: 'info',
      logFormat: 'auto',
    })
    expect(config.handlePrefix).toMatch(/^H:[!-~]{1,36}$/)
    expect(config.routes.size).toBe(0)
    expect(Object.isFrozen(config)).toBe(true)
  })

  test('come from the command line before the environment before the file', async () => {
    const config = await file('gearman_port = 1\nfaktory_port = 2\nweb_port = 3\n')
    const env = { CROSSGEAR_GEARMAN_PORT: '11', CROSSGEAR_FAKTORY_PORT: '12' }
    const flags = { config, gearmanPort: '21' }
    expect(load({ flags, env })).toMatchObject({ gearmanPort: 21, faktoryPort: 12, webPort: 3 })
  })

  test("come from a command's defaults unless set elsewhere", async () => {
    const config = await file('gearman_port = 1\nround_robin = true\n')
    const defaults = { gearmanPort: '31', webPort: 'off', workerWakeup: '0' }
    const env = { CROSSGEAR_WORKER_WAKEUP: '2' }
    expect(load({ flags: { config }, env, defaults })).toMatchObject({
      gearmanPort: 1,
      roundRobin: true,
      webPort: 'off',
      workerWakeup: 2,
    })
  })

  test('may name the file in the environment', async () => {
    const env = { CROSSGEAR_CONFIG: await file('drain_seconds = 3') }
    expect(load({ env }).drainSeconds).toBe(3)
  })

  test('ignore an empty variable', () => {
    expect(load({ env: { CROSSGEAR_GEARMAN_PORT: '' } }).gearmanPort).toBe(4730)
    expect(load({ env: { CROSSGEAR_GEARMN_PORT: '' } }).gearmanPort).toBe(4730)
  })

  test('ignore the variables of a Kubernetes service named crossgear', () => {
    const env = {
      CROSSGEAR_SERVICE_HOST: '10.0.0.1',
      CROSSGEAR_SERVICE_PORT_GEARMAN: '4730',
      CROSSGEAR_PORT: 'tcp://10.0.0.1:4730',
      CROSSGEAR_PORT_4730_TCP: 'tcp://10.0.0.1:4730',
      CROSSGEAR_WEB_PORT_7420_TCP_ADDR: '10.0.0.2',
    }
    expect(load({ env }).gearmanPort).toBe(4730)
  })

  test('all have a flag, a variable and a default that passes their own check', () => {
    for (const name of optionNames) {
      const fallback = optionRow(name).fallback as string | number | undefined
      if (fallback === undefined) continue
      expect(load({ flags: { [name]: String(fallback) } })[name]).toBe(fallback)
      expect(load({ env: { [variablesOf(name)[0]!]: String(fallback) } })[name]).toBe(fallback)
    }
    expect(flagOf('gearmanPort')).toBe('--gearman-port')
    expect(variablesOf('gearmanPort')).toEqual(['CROSSGEAR_GEARMAN_PORT'])
    expect(keyOf('gearmanPort')).toBe('gearman_port')
  })

  test('read a password from its file, and from FAKTORY_PASSWORD too', async () => {
    const path = await file('s3cret\n')
    expect(load({ env: { FAKTORY_PASSWORD: path } }).faktoryPassword).toBe('s3cret')
    expect(load({ env: { FAKTORY_PASSWORD: 'plain' } }).faktoryPassword).toBe('plain')
    const env = { FAKTORY_PASSWORD: 'plain', CROSSGEAR_FAKTORY_PASSWORD: 'own' }
    expect(load({ env }).faktoryPassword).toBe('own')
  })
})

describe('a wrong value is refused in one line that names valid ones', () => {
  const port = 'give a port from 0 to 65535 (0 takes a free one), or'
  test.each([
    ['gearmanPort', 'abc', `--gearman-port is "abc": ${port} off.`],
    ['gearmanPort', '65536', `--gearman-port is "65536": ${port} off.`],
    ['webPort', '-1', `--web-port is "-1": ${port} off.`],
    ['faktoryPort', '', `--faktory-port is "": ${port} off.`],
    ['storePort', 'off', `--store-port is "off": ${port} auto.`],
    [
      'host',
      'a b',
      '--host is "a b": give an address of this machine, such as 127.0.0.1, or * for all of them.',
    ],
    ['drainSeconds', '1.5', '--drain-seconds is "1.5": give a whole number from 0 to 31536000.'],
    [
      'logLevel',
      'loud',
      '--log-level is "loud": give trace, debug, info, warn, error, fatal, silent.',
    ],
    [
      'adminFrom',
      '10.0.0.1,here',
      '--admin-from is "10.0.0.1,here": give addresses or networks such as 10.0.0.0/8, with commas between them.',
    ],
    ['roundRobin', 'maybe', '--round-robin is "maybe": give yes or no.'],
    ['logFormat', 'xml', '--log-format is "xml": give auto, text, json.'],
    ['bridgeFaktory', 'no', '--bridge-faktory is "no": give auto, routed.'],
    [
      'handlePrefix',
      'a b',
      '--handle-prefix is "a b": give 1 to 38 printable ASCII characters without blanks.',
    ],
    [
      'redisUrl',
      'redis://u:secret@h/x',
      '--redis-url is "redis://u:***@h/x": give redis://host:port/db, rediss://host:port/db, unix:///path?db=n, redis+sentinel://host:port,host:port/name or redis+cluster://host:port,host:port.',
    ],
    [
      'config',
      '/no/such',
      '/no/such cannot be read (there is no such file): give a file with --config.',
    ],
  ] as const)('%s %j', (name, value, message) => {
    expect(refusal(() => load({ flags: { [name]: value } }))).toBe(message)
  })

  test('from the environment, with the name of the variable', () => {
    expect(refusal(() => load({ env: { CROSSGEAR_WEB_PORT: 'x' } }))).toContain(
      'CROSSGEAR_WEB_PORT is "x": give a port',
    )
  })

  test.each([
    [
      'CROSSGEAR_GEARMN_PORT',
      'CROSSGEAR_GEARMN_PORT is not a setting: did you mean CROSSGEAR_GEARMAN_PORT?',
    ],
    [
      'CROSSGEAR_REDISURL',
      'CROSSGEAR_REDISURL is not a setting: did you mean CROSSGEAR_REDIS_URL?',
    ],
    ['CROSSGEAR_COLOUR', 'CROSSGEAR_COLOUR is not a setting: see crossgear --help'],
    [
      'CROSSGEAR_PROCESSES',
      'CROSSGEAR_PROCESSES is gone: start several gateways on one store (docs/operate/several-gateways.md).',
    ],
  ])('an unknown variable, without showing its value: %s', (name, message) => {
    expect(refusal(() => load({ env: { [name]: 's3cret' } }))).toBe(message)
  })

  test('all doors closed', () => {
    const flags = { gearmanPort: 'off', faktoryPort: 'off', webPort: 'off' }
    expect(refusal(() => load({ flags }))).toMatch(/^Every door is off: open at least one of/)
  })

  test('an unreadable password file, without showing the value', () => {
    const message = refusal(() => load({ flags: { faktoryPassword: '/no/such' } }))
    expect(message).toMatch(/^--faktory-password names \/no\/such: a value that begins with \//)
  })
})

describe('the file', () => {
  test('sets options, tables and routes', async () => {
    const config = await file(`
      gearman_port = "off"
      [bridge]
      faktory = "routed"
      [routes.mail]
      queue = "bulk"
      retries = 3
      retention_seconds = 60
      payload = "json"
      on_death = { jobtype = "report", args = [1] }
      concurrency = 4
      rate = "100/m"
      [routes."odd name"]
      [routes.slow]
      rate = "1/d"
      [routes.fair]
      per = "custom.tenant"
    `)
    const loaded = load({ flags: { config } })
    expect(loaded).toMatchObject({ gearmanPort: 'off', bridgeFaktory: 'routed' })
    expect([...loaded.routes]).toEqual([
      [
        'mail',
        {
          ...{ queue: 'bulk', retries: 3, retentionSeconds: 60, payload: 'json' },
          onDeath: expect.objectContaining({ jobtype: 'report', args: '[1]' }) as unknown,
          limit: { concurrency: 4, rate: { jobs: 100, perMs: 60_000 } },
        },
      ],
      ['odd name', {}],
      ['slow', { limit: { rate: { jobs: 1, perMs: 86_400_000 } } }],
      ['fair', { limit: { per: 'custom.tenant' } }],
    ])
  })

  test('has terms of routes for refusals, age, retries and times', async () => {
    const config = await file(`
      [routes.mail]
      without_workers = "refuse"
      max_waiting = 100
      max_age = 60
      max_age_action = "drop"
      backoff = "exponential"
      timeout = 30
      obey_retry_after = true
      [[routes.mail.when]]
      level = "high"
      retries = 5
      backoff = "faktory"
      [[routes.mail.when]]
      level = 3
      path = "customer.plan"
      equals = "gold"
      backoff = { linear = 5 }
      [routes.post]
      backoff = [1, 60]
      [routes.resize]
      backoff = { exponential = 2, max = 9 }
      [routes.report]
      backoff = 7
    `)
    expect([...load({ flags: { config } }).routes]).toEqual([
      [
        'mail',
        {
          ...{ withoutWorkers: 'refuse', maxWaiting: 100, maxAgeSeconds: 60 },
          ...{ maxAgeAction: 'drop', timeoutSeconds: 30, obeysRetryAfter: true },
          backoff: { kind: 'exponential', step: 10, max: 3600 },
          when: [
            { level: 'high', retries: 5, backoff: 'faktory' },
            {
              ...{ level: 3, path: ['customer', 'plan'], equals: 'gold' },
              backoff: { kind: 'linear', step: 5, max: 3600 },
            },
          ],
        },
      ],
      ['post', { backoff: [1, 60] }],
      ['resize', { backoff: { kind: 'exponential', step: 2, max: 9 } }],
      ['report', { backoff: [7] }],
    ])
  })

  test('has a version as text or as a number', async () => {
    for (const value of ['2.0', '"2.0"']) {
      const config = await file(`gearmand_version = ${value}`)
      expect(load({ flags: { config } }).gearmandVersion).toBe('2.0')
    }
  })

  test('has throttles', async () => {
    const config = await file(`
      [throttles.bulk]
      concurrency = 5
      [throttles.mail]
      rate = 100
      seconds = 60
      [throttles.both]
      concurrency = 1
      rate = 2
      [throttles.enterprise]
      concurrency = 4
      worker = 2
      timeout = 1.5
    `)
    expect([...load({ flags: { config } }).throttles]).toEqual([
      ['bulk', { concurrency: 5 }],
      ['mail', { rate: { jobs: 100, perMs: 60_000 } }],
      ['both', { concurrency: 1, rate: { jobs: 2, perMs: 1_000 } }],
      ['enterprise', { concurrency: 4, perWorker: 2, timeoutMs: 1_500 }],
    ])
  })

  test('has cron entries', async () => {
    const config = await file(`
      [[cron]]
      schedule = "*/5 * * * *"
      timezone = "Europe/Berlin"
      [cron.job]
      type = "five"
      queue = "critical"
      [cron.job.custom]
      expires_in = 60
    `)
    expect(load({ flags: { config } }).cron).toMatchObject([
      {
        ...{ schedule: '*/5 * * * *', timezone: 'Europe/Berlin' },
        job: { type: 'five', queue: 'critical', custom: { expires_in: 60 } },
      },
    ])
  })

  test.each([
    ['throttles = 1', 'throttles in FILE is not a table: write [throttles.<queue>].'],
    ['throttles.bulk = 1', 'throttles.bulk in FILE is not a table: write [throttles.bulk].'],
    ['[throttles.bulk]', 'throttles.bulk in FILE sets no limit: give concurrency, worker or rate.'],
    [
      '[throttles."a b"]\nrate = 1',
      'throttles.a b in FILE is for no queue: give a queue name of letters, digits, dot, underscore and hyphen.',
    ],
    [
      '[throttles.bulk]\nrate = 1\ntimeout = 60',
      'throttles.bulk.timeout in FILE has no effect alone: give concurrency or worker with it.',
    ],
    ['throttles.bulk.rat = 1', 'throttles.bulk.rat in FILE is unknown: use rate.'],
    [
      'throttles.bulk.concurrency = 0',
      'throttles.bulk.concurrency in FILE is 0: give a whole number from 1 to 100000.',
    ],
    ['cron = 1', 'cron in FILE is not a list: write [[cron]].'],
    ['[[cron]]\nschedule = "@daily"', 'cron entry 1 in FILE: job must be a table.'],
    [
      '[[cron]]\nname="a"\nschedule="@daily"\njob.type="t"\n[[cron]]\nname="a"\nschedule="@daily"\njob.type="u"',
      'Two cron entries in FILE are a: give each a name.',
    ],
    ['gearmn_port = 1', 'gearmn_port in FILE is not a setting: did you mean gearman_port?'],
    ['gearman-port = 1', 'gearman-port in FILE is not a setting: did you mean gearman_port?'],
    ['config = "x"', 'config in FILE is not a setting: see crossgear --help'],
    [
      'processes = 2',
      'processes in FILE is gone: start several gateways on one store (docs/operate/several-gateways.md).',
    ],
    [
      '[bridge]\nfaktry = "auto"',
      'bridge.faktry in FILE is not a setting: did you mean bridge.faktory?',
    ],
    [
      '[route.mail]\nqueue = "bulk"',
      'route.mail.queue in FILE is not a setting: did you mean routes?',
    ],
    ['[route.mail]', 'route.mail in FILE is not a setting: did you mean routes?'],
    ['[throttle.bulk]\nrate = 1', 'is not a setting: did you mean throttles?'],
    ['[[crons]]\nschedule = "@daily"', 'crons in FILE is not a setting: did you mean cron?'],
    ['[bridges]\nnothing = 1', 'bridges.nothing in FILE is not a setting: did you mean bridge?'],
    ['[gearman_port]', 'gearman_port in FILE is {}: give a port'],
    [
      '[[cron]]\nschedul = "@daily"\njob.type = "t"',
      'cron entry 1 in FILE: schedul is unknown: use schedule.',
    ],
    ['gearman_port = true', 'gearman_port in FILE is true: give a port'],
    ['host = 1', 'host in FILE is 1: give an address'],
    ['drain_seconds = [1]', 'drain_seconds in FILE is [1]: give a whole number'],
    ['routes = 1', 'routes in FILE is not a table: write [routes.<function>].'],
    ['[routes]\nmail = 1', 'routes.mail in FILE is not a table: write [routes.mail].'],
    ['[routes.mail]\nretrys = 1', 'routes.mail.retrys in FILE is unknown: use retries.'],
    ['[routes.mail]\nretries = -1', 'routes.mail.retries in FILE is -1: give a whole number'],
    ['[routes.mail]\non_death = "report"', 'routes.mail.on_death in FILE is "report": give a job'],
    ['[routes.mail]\non_death = { queue = "x" }', 'routes.mail.on_death in FILE is {"queue":"x"}:'],
    ['[routes.mail]\nqueue = "a b"', 'routes.mail.queue in FILE is "a b": give a queue name'],
    ['[routes.mail]\nbackoff = "fast"', 'routes.mail.backoff in FILE is "fast": give faktory'],
    ['[routes.mail]\nbackoff = []', 'routes.mail.backoff in FILE is []: give faktory, linear'],
    ['[routes.mail]\nbackoff = [1, -1]', 'routes.mail.backoff in FILE is [1,-1]: give faktory'],
    ['[routes.mail]\nbackoff.linear = 0', 'routes.mail.backoff in FILE is {"linear":0}: give'],
    ['[routes.mail]\nbackoff.cubic = 1', 'routes.mail.backoff in FILE is {"cubic":1}: give'],
    ['[routes.mail]\nbackoff = ["linear"]', 'routes.mail.backoff in FILE is ["linear"]: give'],
    ['[routes.mail]\ntimeout = 86401', 'routes.mail.timeout in FILE is 86401: give a whole'],
    ['[routes.mail]\nobey_retry_after = 1', 'routes.mail.obey_retry_after in FILE is 1: give true'],
    [
      '[routes.mail]\nwithout_workers = "no"',
      'routes.mail.without_workers in FILE is "no": give refuse',
    ],
    ['[routes.mail]\nmax_waiting = 0', 'routes.mail.max_waiting in FILE is 0: give a whole'],
    ['[routes.mail]\nmax_age = 0.5', 'routes.mail.max_age in FILE is 0.5: give a whole'],
    [
      '[routes.mail]\nmax_age = 1\nmax_age_action = "x"',
      'max_age_action in FILE is "x": give dead',
    ],
    [
      '[routes.mail]\nmax_age_action = "drop"',
      'routes.mail.max_age_action in FILE has no effect alone',
    ],
    ['[routes.mail]\nwhen = 1', 'routes.mail.when in FILE is 1: give 1 to 16 rules'],
    ['[routes.mail]\nwhen = [1]', 'routes.mail.when[1] in FILE is not a table'],
    [`[routes.m]\nwhen = [${'{level=1,retries=1},'.repeat(17)}]`, 'give 1 to 16 rules'],
    ['[[routes.mail.when]]\nretries = 1', 'routes.mail.when[1] in FILE says not when: give level'],
    [
      '[[routes.mail.when]]\nlevel = 0',
      'routes.mail.when[1].level in FILE is 0: give high, normal',
    ],
    ['[[routes.mail.when]]\nlevel = 9', 'routes.mail.when[1] in FILE changes nothing: give any of'],
    ['[[routes.mail.when]]\npath = "a"\nretries = 1', 'when[1] in FILE needs both path and equals'],
    ['[[routes.mail.when]]\npath = "a..b"', 'when[1].path in FILE is "a..b": give 1 to 16 names'],
    ['[[routes.mail.when]]\nequals = []', 'routes.mail.when[1].equals in FILE is []: give a text'],
    ['[[routes.mail.when]]\nqueue = "a"', 'routes.mail.when[1].queue in FILE is unknown: use'],
    ['[routes.mail]\npayload = "xml"', 'routes.mail.payload in FILE is "xml": give auto, string'],
    [
      '[routes.mail]\nconcurrency = 0',
      'routes.mail.concurrency in FILE is 0: give a whole number from 1 to 10000.',
    ],
    ...['100', '0/m', '100/w', '1.5/s', '100001/s'].map((rate) => [
      `[routes.mail]\nrate = "${rate}"`,
      `routes.mail.rate in FILE is "${rate}": give up to 100000 jobs in a second, minute, hour or day: "5/s",`,
    ]),
    ['[routes.mail]\nrate = 100', 'routes.mail.rate in FILE is 100: give up to 100000 jobs'],
    ['[routes.mail]\nper = "a b"', 'routes.mail.per in FILE is "a b": give a path such as'],
    ['[routes.mail]\nrat = "1/s"', 'routes.mail.rat in FILE is unknown: use rate.'],
    [
      Array.from({ length: 101 }, (_none, at) => `[routes.f${at}]\nconcurrency = 1`).join('\n'),
      'routes in FILE limit 101 functions: give concurrency, rate or per to at most 100, or limit a queue of theirs.',
    ],
    ['a = ', 'FILE is not TOML: '],
  ])('%j is refused', async (text, message) => {
    const config = await file(text)
    expect(refusal(() => load({ flags: { config } })).replaceAll(config, 'FILE')).toContain(message)
  })
})
