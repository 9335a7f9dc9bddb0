import type { StoreAddress } from '@crossgear/redis-store'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { idIn } from '../doors/gearman/support/handle-parts.ts'
import { readDurability } from '../../src/config/value-kinds.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { ReplicaNews } from '../../src/operations/replica-news.ts'
import { checkDurability } from '../../src/store/check-durability.ts'
import { parseStoreUrl } from '../../src/config/store-address.ts'
import { GearmanPeer } from '../doors/gearman/support/gearman-peer.ts'
import { gatewayOfTest, startGateway, wordsOn } from '../support/gateway-process.ts'
import { recordingLog } from '../support/recording-log.ts'
import { redisOfTest } from '../support/redis-of-suite.ts'
import { fakeAddress } from './support/fake-redis.ts'

const levelOf = (durability: string) =>
  readDurability(loadConfig({ flags: { durability }, env: {} }).durability)

function check(
  text: string,
  address: StoreAddress,
  kind: 'redis-url' | 'embedded' = 'redis-url',
  { log } = recordingLog(),
): Promise<void> {
  return checkDurability(text, { address, kind }, log)
}

describe('--durability', () => {
  test('is auto, store, fsync or a number of replicas', () => {
    expect(loadConfig({ flags: {}, env: {} }).durability).toBe('auto')
    expect(levelOf('auto')).toEqual({ level: 'auto' })
    expect(levelOf('store')).toEqual({ level: 'store' })
    expect(levelOf('fsync')).toEqual({ level: 'fsync' })
    expect(levelOf('replicas:100')).toEqual({ level: 'replicas', replicas: 100 })
  })

  test.each(['replicas', 'replicas:0', 'replicas:101', 'replicas:1.5', 'disk'])(
    '%s is refused',
    (text) => {
      expect(() => levelOf(text)).toThrow(
        `--durability is "${text}": give auto, store, fsync or replicas:n with n from 1 to 100.`,
      )
    },
  )

  test.each(['fsync', 'replicas:1'])('%s is refused on an embedded store', async (text) => {
    const address = { host: '127.0.0.1', port: 1, tls: false, db: 0 }
    await expect(check(text, address, 'embedded')).rejects.toThrow(
      `--durability ${text} needs a store that outlives the gateway, and the embedded one is only in memory: give a --redis-url.`,
    )
  })

  test.each(['fsync', 'replicas:1'])('%s is refused on a cluster', async (text) => {
    const address = parseStoreUrl('redis+cluster://127.0.0.1:1')
    await expect(check(text, address!)).rejects.toThrow(
      `--durability ${text} is not for a Redis Cluster: use --durability store`,
    )
  })

  test('fsync is refused where there is no append-only file', async () => {
    const off = '-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.'
    const address = await fakeAddress(() => off)
    await expect(check('fsync', address)).rejects.toThrow(
      '--durability fsync needs an append-only file, and the store has none: set "appendonly yes" on it.',
    )
  })

  test('a server that forbids the check is explained', async () => {
    const address = await fakeAddress(() => '-NOPERM no permissions to run the command')
    await expect(check('replicas:1', address)).rejects.toThrow(
      'The gateway could not check whether --durability replicas:1 works: NOPERM no permissions',
    )
  })

  test('auto tells once that there is no replica, in the log and by readiness, and once that there is', () => {
    const { log, lines } = recordingLog()
    const news = new ReplicaNews({ level: 'auto' }, log)
    for (const count of [2, 0, 0]) news.heard(count)
    expect(news.note).toMatch(/^no replica of the store keeps up/)
    for (const count of [1, 2]) news.heard(count)
    expect(news.note).toBeUndefined()
    expect(lines).toEqual([
      expect.stringMatching(/^Until a replica keeps up again, a failover loses jobs; no replica/),
      expect.stringMatching(/^A replica of the store keeps up again/),
    ])
  })

  test('store does not miss replicas', () => {
    const { log, lines } = recordingLog()
    const news = new ReplicaNews({ level: 'store' }, log)
    news.heard(0)
    expect([news.note, lines]).toEqual([undefined, []])
  })
})

describe.skipIf(lacksRedis)('needs redis-server: --durability', () => {
  const start = (...words: string[]): Promise<RedisServer> =>
    redisOfTest('--repl-diskless-sync-delay', '0', ...words)

  test('fsync is refused by a gateway whose Redis is too old', async ({ skip }) => {
    const server = await start('--appendonly', 'yes')
    const [, version = ''] = /redis_version:(\S+)/.exec(await server.ask('INFO', 'server')) ?? []
    if (!version.startsWith('7.0.')) skip('needs a redis-server before 7.2')
    const { exited } = startGateway(['--redis-url', server.url, '--durability', 'fsync'])
    const { code, stderr } = await exited
    expect(code).toBe(1)
    expect(stderr).toContain(
      `--durability fsync needs Redis 7.2 or Valkey, and the store is Redis ${version}: use a newer server, or "appendfsync always" on this one with --durability store.`,
    )
  })

  test('replicas warns at the start if there are too few', async () => {
    const server = await start()
    const log = recordingLog()
    await check('replicas:2', parseStoreUrl(server.url)!, 'redis-url', log)
    expect(log.lines).toEqual([
      '--durability replicas:2: the store has 0 replicas now. Jobs are refused until it has enough.',
    ])
  })

  test('replicas refuses jobs while a replica is frozen, and accepts them when it thaws', async () => {
    const master = await start()
    const replica = await start('--replicaof', '127.0.0.1', String(master.port))
    await vi.waitFor(async () => expect(await master.ask('WAIT', '1', '100')).toBe('1'), soon)
    const words = [...wordsOn(master, 'gearman', 'web'), '--durability', 'replicas:1']
    const { port: portOf } = await gatewayOfTest(words).ready
    const client = await GearmanPeer.ofTest(portOf('gearman'))
    const submit = () => client.ask('SUBMIT_JOB_BG', 'mail', '', 'in')
    expect((await submit())[0]).toBe('JOB_CREATED')
    replica.freeze()
    expect((await submit())[0]).toBe('ERROR')
    replica.thaw()
    expect((await submit())[0]).toBe('JOB_CREATED')
    const metrics = await (await fetch(`http://127.0.0.1:${portOf('web')}/metrics`)).text()
    expect(metrics).toContain('crossgear_unconfirmed_total{what="submissions"} 1')
    const worker = await GearmanPeer.ofTest(portOf('gearman'))
    worker.send('CAN_DO', 'mail')
    for (const job of ['1', '2', '3']) {
      const [name, handle = ''] = await worker.ask('GRAB_JOB')
      expect([name, idIn(handle)]).toEqual(['JOB_ASSIGN', job])
      worker.send('WORK_COMPLETE', handle, '')
    }
  })
})
