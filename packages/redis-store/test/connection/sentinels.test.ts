import { LaneNames } from '@crossgear/core-scheduler'
import { RedisSentinel } from '@crossgear/tools/redis-sentinel'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { manyHostsAddress } from '@crossgear/gearmonkey-redis/address'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { RedisContext } from '../../src/connection/redis-context.ts'

async function open() {
  const sentinel = await RedisSentinel.start()
  const context = new RedisContext(manyHostsAddress(sentinel.url)!, new LaneNames(), 0)
  onTestFinished(async () => {
    context.redis.disconnect()
    await sentinel.stop()
  })
  context.redis.on('error', () => undefined)
  await context.redis.connect()
  await context.epoch.start(() => undefined)
  return { sentinel, context }
}

/** Resolves when Sentinels have made a replica of a former master. */
async function isDemoted(server: RedisServer): Promise<void> {
  await vi.waitFor(async () => expect(await server.role()).toBe('slave'), soon)
}

describe.skipIf(lacksRedis)('on Sentinels, with redis-server:', () => {
  test('a call that a former master refuses is sent again, to the next one', async () => {
    const { sentinel, context } = await open()
    const [former] = sentinel.servers
    const next = await sentinel.failover()
    await isDemoted(former!)
    const refused = vi.fn(() => former!.connect().set('mine', 'yes'))
    const called = context.call(() =>
      refused.mock.calls.length === 0 ? refused() : context.redis.set('mine', 'yes'),
    )
    await expect(called).resolves.toBe('OK')
    expect(refused).toHaveBeenCalledOnce()
    expect(await next.ask('GET', 'mine')).toBe('yes')
  })

  test('no call goes to a master that is being replaced, though a Sentinel still names it; they fail where it stays', async () => {
    const { sentinel, context } = await open()
    context.epoch.replace()
    context.epoch.reconnect()
    await expect(context.call(() => context.redis.set('mine', 'yes'))).rejects.toThrow(
      'its Sentinels are replacing the master',
    )
    for (const server of sentinel.servers) expect(await server.ask('EXISTS', 'mine')).toBe('0')
    await vi.waitFor(() => context.call(() => context.redis.set('mine', 'yes')), soon)
  })

  test('a late answer of a master that is being replaced does not count', async () => {
    const { context } = await open()
    const call = context.call(() => context.redis.blpop('none', 0.2))
    context.epoch.replace()
    await expect(call).rejects.toThrow('the master was replaced')
  })

  test('calls go on at once where the Sentinels give up', async () => {
    const { context } = await open()
    context.epoch.replace()
    const call = context.call(() => context.redis.set('mine', 'yes'))
    context.epoch.resume()
    expect(await call).toBe('OK')
  })
})
