import { Redis, type Command } from 'ioredis'
import { afterAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { Scripts } from '../../src/scripts/scripts.ts'

/** A connection before whose every command the server forgets its scripts, once told so. */
class Forgetful extends Redis {
  forgets = false

  override sendCommand(...given: Parameters<Redis['sendCommand']>): unknown {
    const [command] = given
    if (this.forgets && isScript(command)) this.script('FLUSH').catch(() => undefined)
    return super.sendCommand(...given)
  }
}

function isScript({ name }: Command): boolean {
  return name.startsWith('eval')
}

describe.skipIf(lacksRedis)('a server that forgets its scripts before each call', () => {
  let redis: Forgetful
  withRedisServer(({ path }) => (redis = new Forgetful({ path })))
  afterAll(() => redis.disconnect())

  test('runs all calls of one moment, each once', async () => {
    const scripts = new Scripts(redis)
    const register = (lane: string): Promise<unknown> =>
      scripts.run('register-lanes', ['xg:lanes'], ['', ''], [0, lane, ''])
    expect(await register('lane0')).toEqual([1])
    redis.forgets = true
    const numbers = await Promise.all([1, 2, 3, 4].map((at) => register(`lane${at}`)))
    expect(numbers.flat().sort()).toEqual([2, 3, 4, 5])
  })
})
