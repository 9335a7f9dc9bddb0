import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { startGateway } from '../../support/gateway-process.ts'

describe.skipIf(lacksRedis)('crossgear doctor', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await RedisServer.start('--appendonly', 'yes')
  })
  afterAll(() => redis.stop())
  const examine = (...words: readonly string[]) => startGateway(['doctor', ...words]).exited

  test('says ok, warning or fault in each line and what to do, and ends with 3 for a fault', async () => {
    const sound = await examine('--redis-url', redis.url)
    expect(sound).toMatchObject({ code: 0, stderr: '' })
    expect(sound.stdout.split('\n').filter((line) => !/^ok {7}\w|latency/.test(line))).toEqual([''])
    await redis.ask('CONFIG', 'SET', 'appendonly', 'no')
    await redis.ask('SET', 'xg:schema', '7')
    const ill = await examine('--redis-url', redis.url)
    expect(ill.code).toBe(3)
    expect(ill.stdout).toMatch(
      /^warning {2}persistence +appendonly no: .*\. To do: set appendonly yes/m,
    )
    expect(ill.stdout).toMatch(
      /^fault {4}schema +.* version 7 .*\. To do: use the newer crossgear\.$/m,
    )
    const { code, stdout } = await examine('--json', '--redis-url', redis.url)
    const { findings } = JSON.parse(stdout) as { findings: { check: string; level: string }[] }
    expect(code).toBe(3)
    expect(findings).toContainEqual(expect.objectContaining({ check: 'schema', level: 'fault' }))
  })

  test('ends with 1 for a word that it does not know, and with 2 where nobody answers', async () => {
    const [usage, away] = [
      await examine('--bogus'),
      await examine('--redis-url', 'redis://127.0.0.1:1'),
    ]
    expect(usage).toMatchObject({ code: 1, stdout: '' })
    expect(usage.stderr).toMatch(/^Unknown option '--bogus': see crossgear doctor --help\.\n$/)
    expect(away).toMatchObject({ code: 2, stdout: '' })
    expect(away.stderr).toBe(
      'The store at redis://127.0.0.1:1 cannot be reached (ECONNREFUSED): start it or correct --redis-url.\n',
    )
  })

  test('says what to do about a password that the store does not take, or wants', async () => {
    await redis.ask('CONFIG', 'SET', 'requirepass', 'right')
    const url = `redis://%s127.0.0.1:${redis.port}`
    const wrong = await examine('--redis-url', url.replace('%s', ':wrong@'))
    const none = await examine('--redis-url', url.replace('%s', ''))
    for (const [{ code, stderr }, word] of [
      [wrong, 'WRONGPASS'],
      [none, 'NOAUTH'],
    ] as const) {
      expect(code).toBe(2)
      expect(stderr).toMatch(
        new RegExp(
          `^The store at \\S+ answers "${word} .*": put the right user and password into --redis-url\\.\n$`,
        ),
      )
    }
  })
})
