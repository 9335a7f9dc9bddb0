import { describe, expect, test } from 'vitest'
import { flagOf, keyOf, optionNames, optionRow, variablesOf } from '../../src/config/options.ts'
import { load, refusal } from '../support/settings.ts'
import { configFile } from '../support/temporary-folder.ts'

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
      storePort: 'off',
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
    const config = await configFile('gearman_port = 1\nfaktory_port = 2\nweb_port = 3\n')
    const env = { CROSSGEAR_GEARMAN_PORT: '11', CROSSGEAR_FAKTORY_PORT: '12' }
    const flags = { config, gearmanPort: '21' }
    expect(load({ flags, env })).toMatchObject({ gearmanPort: 21, faktoryPort: 12, webPort: 3 })
  })

  test("come from a command's defaults unless set elsewhere", async () => {
    const config = await configFile('gearman_port = 1\nround_robin = true\n')
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
    const env = { CROSSGEAR_CONFIG: await configFile('drain_seconds = 3') }
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
    const path = await configFile('s3cret\n')
    expect(load({ env: { FAKTORY_PASSWORD: path } }).faktoryPassword).toBe('s3cret')
    expect(load({ env: { FAKTORY_PASSWORD: 'plain' } }).faktoryPassword).toBe('plain')
    const env = { FAKTORY_PASSWORD: 'plain', CROSSGEAR_FAKTORY_PASSWORD: 'own' }
    expect(load({ env }).faktoryPassword).toBe('own')
  })
})

describe('a wrong value is refused in one line that names valid ones', () => {
  const port = 'give a port from 0 to 65535 (0 takes a free one), or'
  const address = 'give an address of this machine, such as 127.0.0.1, or * for all of them.'
  const levels = 'give trace, debug, info, warn, error, fatal, silent.'
  const networks = 'give addresses or networks such as 10.0.0.0/8, with commas between them.'
  const prefix = 'give 1 to 38 printable ASCII characters without blanks.'
  test.each([
    ['gearmanPort', 'abc', `--gearman-port is "abc": ${port} off.`],
    ['gearmanPort', '65536', `--gearman-port is "65536": ${port} off.`],
    ['webPort', '-1', `--web-port is "-1": ${port} off.`],
    ['faktoryPort', '', `--faktory-port is "": ${port} off.`],
    ['storePort', 'on', `--store-port is "on": ${port} off or auto.`],
    ['host', 'a b', `--host is "a b": ${address}`],
    ['drainSeconds', '1.5', '--drain-seconds is "1.5": give a whole number from 0 to 31536000.'],
    ['logLevel', 'loud', `--log-level is "loud": ${levels}`],
    ['adminFrom', '10.0.0.1,here', `--admin-from is "10.0.0.1,here": ${networks}`],
    ['roundRobin', 'maybe', '--round-robin is "maybe": give yes or no.'],
    ['logFormat', 'xml', '--log-format is "xml": give auto, text, json.'],
    ['bridgeFaktory', 'no', '--bridge-faktory is "no": give auto, routed.'],
    ['handlePrefix', 'a b', `--handle-prefix is "a b": ${prefix}`],
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
  ] as const)('%s %j', async (name, value, message) => {
    expect(await refusal(() => load({ flags: { [name]: value } }))).toBe(message)
  })

  test('from the environment, with the name of the variable', async () => {
    expect(await refusal(() => load({ env: { CROSSGEAR_WEB_PORT: 'x' } }))).toContain(
      'CROSSGEAR_WEB_PORT is "x": give a port',
    )
  })

  const several = 'start several gateways on one store (docs/operate/several-gateways.md).'
  test.each([
    ['CROSSGEAR_GEARMN_PORT', 'is not a setting: did you mean CROSSGEAR_GEARMAN_PORT?'],
    ['CROSSGEAR_REDISURL', 'is not a setting: did you mean CROSSGEAR_REDIS_URL?'],
    ['CROSSGEAR_COLOUR', 'is not a setting: see crossgear --help'],
    ['CROSSGEAR_PROCESSES', `is gone: ${several}`],
  ])('an unknown variable, without showing its value: %s', async (name, message) => {
    expect(await refusal(() => load({ env: { [name]: 's3cret' } }))).toBe(`${name} ${message}`)
  })

  test('headers of a proxy without its addresses, and half of them', async () => {
    const reason = 'people of a proxy are named by two headers, from listed addresses only.'
    const headers = { webUserHeader: 'X-User', webRoleHeader: 'X-Role' }
    expect(await refusal(() => load({ flags: headers }))).toBe(
      `--web-user-header and --web-role-header need --web-proxy-from too: ${reason}`,
    )
    const half = { webUserHeader: 'X-User', webProxyFrom: '10.0.0.0/8' }
    expect(await refusal(() => load({ flags: half }))).toBe(
      `--web-user-header and --web-proxy-from need --web-role-header too: ${reason}`,
    )
  })

  test('all doors closed', async () => {
    const flags = { gearmanPort: 'off', faktoryPort: 'off', webPort: 'off' }
    expect(await refusal(() => load({ flags }))).toMatch(/^Every door is off: open at least one of/)
  })

  test('an unreadable password file, without showing the value', async () => {
    const message = await refusal(() => load({ flags: { faktoryPassword: '/no/such' } }))
    expect(message).toMatch(/^--faktory-password names \/no\/such: a value that begins with \//)
  })
})
