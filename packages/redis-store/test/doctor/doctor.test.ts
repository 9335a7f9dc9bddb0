import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { examine, type Finding } from '../../src/doctor/doctor.ts'
import { serverChecks } from '../../src/doctor/server-checks.ts'
import { RedisStore } from '../../src/index.ts'

const usual = {
  appendonly: 'yes',
  appendfsync: 'everysec',
  maxmemory: '0',
  'maxmemory-policy': 'noeviction',
}

describe.skipIf(lacksRedis)('an examination', () => {
  let server: RedisServer
  let store: RedisStore

  const words = ['--appendonly', 'yes', '--repl-diskless-sync-delay', '60']
  withRedisServer((started) => (server = started), ...words)
  beforeEach(async () => {
    await server.ask('FLUSHALL')
    store = new RedisStore({ path: server.path })
    await store.open()
    await store.nodes.beat()
    await store.lanes.register('mail')
    const input = Buffer.from('x')
    await store.steps.submit('mail', [{ input, door: 'gearman', level: 5, foreground: false }])
  })
  afterEach(async () => {
    await store.close()
    for (const [name, value] of Object.entries(usual))
      await server.ask('CONFIG', 'SET', name, value)
  })

  const look = () => examine({ path: server.path })
  /** The level of one check, with its words where it is not ok. */
  const found = (findings: readonly Finding[], check: string): string => {
    const { level, message, advice } = findings.find((finding) => finding.check === check) ?? {}
    return level === 'ok' ? 'ok' : `${level}: ${message} -> ${advice}`
  }

  test('finds nothing in a sound store, and changes nothing', async () => {
    const changes = async (): Promise<string | undefined> =>
      /rdb_changes_since_last_save:(\d+)/.exec(await server.ask('INFO', 'persistence'))?.[1]
    const before = await changes()
    const findings = await look()
    // How fast the answers are is the machine's affair.
    const ill = findings.filter(({ level, check }) => level !== 'ok' && check !== 'latency')
    expect(ill).toEqual([])
    expect(findings.map(({ check }) => check)).toEqual([
      'version',
      'role',
      'eviction',
      'memory',
      'persistence',
      'replicas',
      'latency',
      'clock',
      'scripts',
      'schema',
      'nodes',
      'counts',
      'leases',
      'invariants',
    ])
    expect(before).toBeDefined()
    expect(await changes()).toBe(before)
  })

  test.each([
    [
      'eviction',
      [
        ['maxmemory', '200mb'],
        ['maxmemory-policy', 'allkeys-lru'],
      ],
      /^fault: .*drops jobs/,
    ],
    [
      'eviction',
      [['maxmemory-policy', 'volatile-ttl']],
      /^warning: .*-> set maxmemory-policy noeviction/,
    ],
    ['memory', [['maxmemory', '1mb']], /^fault: .*give it more memory/],
    ['persistence', [['appendonly', 'no']], /^warning: appendonly no.*-> set appendonly yes/],
    ['persistence', [['appendfsync', 'no']], /^warning: appendfsync no.*everysec/],
  ] as const)('sees %s after CONFIG SET %j', async (check, settings, words) => {
    for (const setting of settings) await server.ask('CONFIG', 'SET', ...setting)
    expect(found(await look(), check)).toMatch(words)
  })

  test.each([
    ['schema', ['SET', 'xg:schema', '99'], /^fault: .*version 99.*newer/],
    ['nodes', ['ZADD', 'xg:nodes', '1000', 'gone'], /^fault: 1 alive, .* gone \(\d+ s\)/],
    [
      'nodes',
      ['ZADD', 'xg:nodes', '8e15', 'ahead'],
      /^fault: .* in the future -> correct the store's clock/,
    ],
    [
      'counts',
      ['HSET', 'xg:lane:mail', 'n:gone', '1'],
      /^fault: workers of 1 unknown gateways: gone \(in mail\) -> keep a gateway running/,
    ],
    ['leases', ['ZADD', 'xg:busy:mail', '1000', '1'], /^fault: 1 of 1 .*over their time/],
    ['invariants', ['LPUSH', 'queue:mail:low', '99'], /^fault: mail: 99 is in low and has no hash/],
  ] as const)('sees %s after %j', async (check, [command, ...words], pattern) => {
    await server.ask(command, ...words)
    expect(found(await look(), check)).toMatch(pattern)
  })

  test.each([
    [['SET', 'count:mail', '-2'], 'mail: counts -2 workers, its nodes have 0'],
    [['HSET', 'xg:lane:mail', 'consumers', '3'], 'mail: counts 3 consumers of 0'],
    [['HSET', 'xg:lane:mail', 'labelled', '2'], 'mail: counts 2 consumers with its label of 0'],
  ] as const)('sees the wrong count of %j, which a gateway corrects', async (planted, words) => {
    const [command, ...rest] = planted
    await server.ask(command, ...rest)
    expect(found(await look(), 'counts')).toMatch(`fault: ${words} -> keep a gateway running`)
    await store.nodes.inLanes(['mail'])
    expect(found(await look(), 'counts')).toBe('ok')
  })

  test('names workers that no gateway counts: native ones, or what is left of them', async () => {
    await server.ask('SET', 'count:mail', '4')
    const counts = (await look()).find(({ check }) => check === 'counts')
    expect(counts).toMatchObject({
      level: 'ok',
      message: expect.stringMatching(/what is left of them: 4 of mail$/) as string,
    })
  })

  test('sees a job that a worker of a gateway has which is gone', async () => {
    await server.ask('HSET', 'job:mail:1', 'status', 'busy', 'token', 'ngone-7')
    await server.ask('ZADD', 'xg:busy:mail', '8e15', '1')
    expect(found(await look(), 'leases')).toMatch(
      /^fault: leases of unknown gateways: mail: 1 \(gone\) -> keep a gateway running/,
    )
  })

  test('sees a store that no gateway serves, and jobs left with workers', async () => {
    await server.ask('ZADD', 'xg:busy:mail', '1000', '1')
    await server.ask('DEL', 'xg:nodes')
    const findings = await look()
    expect(found(findings, 'nodes')).toBe('ok')
    expect(found(findings, 'leases')).toMatch(/^warning: .*-> start a gateway/)
  })

  test('sees a replica in the place of the master', async () => {
    await server.ask('REPLICAOF', '127.0.0.1', '1')
    const findings = await look()
    await server.ask('REPLICAOF', 'NO', 'ONE')
    expect(found(findings, 'role')).toMatch(/^fault: a replica/)
  })

  test('sees a replica that confirms nothing', async () => {
    const replica = connect(server.path)
    onTestFinished(() => void replica.destroy())
    // The server waits for others before it sends its data, and as long the replica has none.
    await server.ask('CONFIG', 'SET', 'repl-diskless-sync-delay', '3600')
    replica.write('PSYNC ? -1\r\n')
    await expect.poll(() => server.ask('INFO', 'replication')).toContain('connected_slaves:1')
    expect(found(await look(), 'replicas')).toMatch(/^warning: 1 of 1 replicas are not in sync/)
  })

  test('misses replicas only where Sentinels look after the server', async () => {
    const own = { redis: server.connect(), isCluster: false, nowMs: Date.now }
    const facts = { ...own, info: new Map([['connected_slaves', '0']]) }
    const result = (isGuarded: boolean) => serverChecks['replicas']?.({ ...facts, isGuarded })
    expect(await result(false)).toMatchObject({ level: 'ok' })
    expect(await result(true)).toMatchObject({
      level: 'warning',
      message: expect.stringMatching(/^no replicas: .* this server alone has them$/) as string,
    })
  })

  test('sees a user without permission for scripts', async () => {
    const rules = ['on', '>secret', '~*', '&*', '+@all', '-@scripting']
    await server.ask('ACL', 'SETUSER', 'plain', ...rules)
    const login = { username: 'plain', password: 'secret' }
    const findings = await examine({ path: server.path, ...login })
    expect(found(findings, 'scripts')).toMatch(/^fault: functions are refused: NOPERM.*fcall/)
  })

  test('names each command that the user of the store may not use', async () => {
    const rules = ['on', '>secret', 'allkeys', 'allchannels', '+@all']
    const denied = ['-info', '-time', '-config', '-zcard', '-scan', '-exists']
    await server.ask('ACL', 'SETUSER', 'narrow', ...rules, ...denied)
    const login = { username: 'narrow', password: 'secret' }
    const findings = await examine({ path: server.path, ...login })
    const told = findings.map(({ check, level, message, advice = '' }) => {
      const [, command] = /^cannot be checked: NOPERM .*'(\w+)' command$/.exec(message) ?? []
      return [check, command === undefined ? level : `${level}: ${command} ${advice.split(' ')[0]}`]
    })
    expect(told.filter(([check]) => check !== 'latency')).toEqual([
      ...['version', 'role', 'eviction', 'memory', 'persistence', 'replicas'].map((check) => [
        check,
        'fault: info allow',
      ]),
      ['clock', 'fault: time allow'],
      ['scripts', 'ok'],
      ['schema', 'ok'],
      ['nodes', 'fault: time allow'],
      ['counts', 'ok'],
      ['leases', 'fault: time allow'],
      ['invariants', 'fault: scan allow'],
    ])
  })

  test.each([
    [2_000, 'warning'],
    [-90_000, 'fault'],
  ])('sees a clock that differs by %i ms', async (skewMs, level) => {
    const nowMs = () => Date.now() + skewMs
    const findings = await examine({ path: server.path }, { nowMs })
    expect(found(findings, 'clock')).toMatch(new RegExp(`^${level}: .*NTP`))
  })

  test('sees slow answers', async () => {
    const port = await slowProxy(server.path, 12)
    const findings = await examine({ host: '127.0.0.1', port })
    expect(found(findings, 'latency')).toMatch(/^(warning|fault): PING p50 \d\d/)
  })

  test.each([
    ['version', { redis_version: '6.2.7' }, 'fault'],
    ['persistence', { aof_enabled: '1', aof_last_write_status: 'err' }, 'fault'],
    ['persistence', { aof_enabled: '0', rdb_last_bgsave_status: 'err' }, 'fault'],
  ])("judges %s by the server's answer: %j", async (check, info, level) => {
    const own = { redis: server.connect(), isCluster: false, isGuarded: false, nowMs: Date.now }
    const facts = { ...own, info: new Map(Object.entries(info)) }
    expect(await serverChecks[check]?.(facts)).toMatchObject({ level })
  })

  test('throws if no server answers', async () => {
    await expect(examine({ host: '127.0.0.1', port: 1 })).rejects.toThrow('ECONNREFUSED')
  })
})

/** Passes on what comes, each piece that much later. */
async function slowProxy(path: string, delayMs: number): Promise<number> {
  const later = (from: Socket, to: Socket): void => {
    from.on('error', () => undefined)
    from.on('data', (chunk) => setTimeout(() => to.write(chunk), delayMs / 2))
    from.on('close', () => to.destroy())
  }
  const proxy = createServer((socket) => {
    const behind = connect(path)
    later(socket, behind)
    later(behind, socket)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void proxy.close())
  await once(proxy, 'listening')
  return (proxy.address() as AddressInfo).port
}
