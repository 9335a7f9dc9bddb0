import { describe, expect, test } from 'vitest'
import { loadFile, refusal } from '../support/settings.ts'

describe('the file', () => {
  test('sets options, tables and routes', async () => {
    const loaded = await loadFile(`
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
    expect(loaded).toMatchObject({ gearmanPort: 'off', bridgeFaktory: 'routed' })
    expect([...loaded.routes]).toEqual([
      [
        'mail',
        {
          queue: 'bulk',
          retries: 3,
          retentionSeconds: 60,
          payload: 'json',
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
    const loaded = await loadFile(`
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
    expect([...loaded.routes]).toEqual([
      [
        'mail',
        {
          withoutWorkers: 'refuse',
          maxWaiting: 100,
          maxAgeSeconds: 60,
          maxAgeAction: 'drop',
          timeoutSeconds: 30,
          obeysRetryAfter: true,
          backoff: { kind: 'exponential', step: 10, max: 3600 },
          when: [
            { level: 'high', retries: 5, backoff: 'faktory' },
            {
              level: 3,
              path: ['customer', 'plan'],
              equals: 'gold',
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
      expect((await loadFile(`gearmand_version = ${value}`)).gearmandVersion).toBe('2.0')
    }
  })

  test('has throttles', async () => {
    const loaded = await loadFile(`
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
    expect([...loaded.throttles]).toEqual([
      ['bulk', { concurrency: 5 }],
      ['mail', { rate: { jobs: 100, perMs: 60_000 } }],
      ['both', { concurrency: 1, rate: { jobs: 2, perMs: 1_000 } }],
      ['enterprise', { concurrency: 4, perWorker: 2, timeoutMs: 1_500 }],
    ])
  })

  test('has cron entries', async () => {
    const loaded = await loadFile(`
      [[cron]]
      schedule = "*/5 * * * *"
      timezone = "Europe/Berlin"
      [cron.job]
      type = "five"
      queue = "critical"
      [cron.job.custom]
      expires_in = 60
    `)
    expect(loaded.cron).toMatchObject([
      {
        schedule: '*/5 * * * *',
        timezone: 'Europe/Berlin',
        job: { type: 'five', queue: 'critical', custom: { expires_in: 60 } },
      },
    ])
  })
})

describe('a file is refused in one line that names the key', () => {
  const several = 'start several gateways on one store (docs/operate/several-gateways.md).'
  const queueName = 'give a queue name of letters, digits, dot, underscore and hyphen.'
  const a = '[[cron]]\nname="a"\nschedule="@daily"\njob.type="t"\n'
  test.each([
    ['throttles = 1', 'throttles in FILE is not a table: write [throttles.<queue>].'],
    ['throttles.bulk = 1', 'throttles.bulk in FILE is not a table: write [throttles.bulk].'],
    ['[throttles."a b"]\nrate = 1', `throttles.a b in FILE is for no queue: ${queueName}`],
    ['cron = 1', 'cron in FILE is not a list: write [[cron]].'],
    ['[[cron]]\nschedule = "@daily"', 'cron entry 1 in FILE: job must be a table.'],
    [`[[cron]]\nschedul = "@daily"`, 'cron entry 1 in FILE: schedul is unknown: use schedule.'],
    [a + a, 'Two cron entries in FILE are a: give each a name.'],
    ['gearmn_port = 1', 'gearmn_port in FILE is not a setting: did you mean gearman_port?'],
    ['gearman-port = 1', 'gearman-port in FILE is not a setting: did you mean gearman_port?'],
    ['config = "x"', 'config in FILE is not a setting: see crossgear --help'],
    ['processes = 2', `processes in FILE is gone: ${several}`],
    ['bridge.faktry = 1', 'bridge.faktry in FILE is not a setting: did you mean bridge.faktory?'],
    ['route.mail.queue = 1', 'route.mail.queue in FILE is not a setting: did you mean routes?'],
    ['[route.mail]', 'route.mail in FILE is not a setting: did you mean routes?'],
    ['[throttle.bulk]\nrate = 1', 'is not a setting: did you mean throttles?'],
    ['[[crons]]\nschedule = "@daily"', 'crons in FILE is not a setting: did you mean cron?'],
    ['[bridges]\nnothing = 1', 'bridges.nothing in FILE is not a setting: did you mean bridge?'],
    ['[gearman_port]', 'gearman_port in FILE is {}: give a port'],
    ['gearman_port = true', 'gearman_port in FILE is true: give a port'],
    ['host = 1', 'host in FILE is 1: give an address'],
    ['drain_seconds = [1]', 'drain_seconds in FILE is [1]: give a whole number'],
    ['routes = 1', 'routes in FILE is not a table: write [routes.<function>].'],
    ['[routes]\nmail = 1', 'routes.mail in FILE is not a table: write [routes.mail].'],
    ['a = ', 'FILE is not TOML: '],
  ])('%j', async (text, message) => {
    expect(await refusal(() => loadFile(text))).toContain(message)
  })

  test('limits of more functions than there may be', async () => {
    const tables = Array.from({ length: 101 }, (_none, at) => `[routes.f${at}]\nconcurrency = 1`)
    expect(await refusal(() => loadFile(tables.join('\n')))).toContain(
      'routes in FILE limit 101 functions: give concurrency, rate or per to at most 100, or limit a queue of theirs.',
    )
  })

  test.each([
    ['', ' in FILE sets no limit: give concurrency, worker or rate.'],
    [
      'rate = 1\ntimeout = 60',
      '.timeout in FILE has no effect alone: give concurrency or worker with it.',
    ],
    ['rat = 1', '.rat in FILE is unknown: use rate.'],
    ['concurrency = 0', '.concurrency in FILE is 0: give a whole number from 1 to 100000.'],
  ])('a throttle with %j', async (text, message) => {
    const line = await refusal(() => loadFile(`[throttles.bulk]\n${text}`))
    expect(line).toContain(`throttles.bulk${message}`)
  })

  test.each([
    ['retrys = 1', 'retrys in FILE is unknown: use retries.'],
    ['retries = -1', 'retries in FILE is -1: give a whole number'],
    ['on_death = "report"', 'on_death in FILE is "report": give a job'],
    ['on_death = { queue = "x" }', 'on_death in FILE is {"queue":"x"}:'],
    ['queue = "a b"', 'queue in FILE is "a b": give a queue name'],
    ['backoff = "fast"', 'backoff in FILE is "fast": give faktory'],
    ['backoff = []', 'backoff in FILE is []: give faktory, linear'],
    ['backoff = [1, -1]', 'backoff in FILE is [1,-1]: give faktory'],
    ['backoff.linear = 0', 'backoff in FILE is {"linear":0}: give'],
    ['backoff.cubic = 1', 'backoff in FILE is {"cubic":1}: give'],
    ['backoff = ["linear"]', 'backoff in FILE is ["linear"]: give'],
    ['timeout = 86401', 'timeout in FILE is 86401: give a whole'],
    ['obey_retry_after = 1', 'obey_retry_after in FILE is 1: give true'],
    ['without_workers = "no"', 'without_workers in FILE is "no": give refuse'],
    ['max_waiting = 0', 'max_waiting in FILE is 0: give a whole'],
    ['max_age = 0.5', 'max_age in FILE is 0.5: give a whole'],
    ['max_age = 1\nmax_age_action = "x"', 'max_age_action in FILE is "x": give dead'],
    ['max_age_action = "drop"', 'max_age_action in FILE has no effect alone'],
    ['when = 1', 'when in FILE is 1: give 1 to 16 rules'],
    ['when = [1]', 'when[1] in FILE is not a table'],
    [`when = [${'{level=1,retries=1},'.repeat(17)}]`, 'give 1 to 16 rules'],
    ['payload = "xml"', 'payload in FILE is "xml": give auto, string'],
    ['concurrency = 0', 'concurrency in FILE is 0: give a whole number from 1 to 10000.'],
    ...['100', '0/m', '100/w', '1.5/s', '100001/s'].map((rate) => [
      `rate = "${rate}"`,
      `rate in FILE is "${rate}": give up to 100000 jobs in a second, minute, hour or day: "5/s",`,
    ]),
    ['rate = 100', 'rate in FILE is 100: give up to 100000 jobs'],
    ['per = "a b"', 'per in FILE is "a b": give a path such as'],
    ['rat = "1/s"', 'rat in FILE is unknown: use rate.'],
  ])('a route with %j', async (text, message = '') => {
    const line = await refusal(() => loadFile(`[routes.mail]\n${text}`))
    expect(line).toMatch(/^routes\.mail\./)
    expect(line).toContain(message)
  })

  test.each([
    ['retries = 1', ' in FILE says not when: give level'],
    ['level = 0', '.level in FILE is 0: give high, normal'],
    ['level = 9', ' in FILE changes nothing: give any of'],
    ['path = "a"\nretries = 1', ' in FILE needs both path and equals'],
    ['path = "a..b"', '.path in FILE is "a..b": give 1 to 16 names'],
    ['equals = []', '.equals in FILE is []: give a text'],
    ['queue = "a"', '.queue in FILE is unknown: use'],
  ])('a rule of a route with %j', async (text, message) => {
    const line = await refusal(() => loadFile(`[[routes.mail.when]]\n${text}`))
    expect(line).toContain(`routes.mail.when[1]${message}`)
  })
})
