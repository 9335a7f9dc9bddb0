import { lacksRedis } from '@crossgear/tools/redis-server'
import { expect, onTestFinished, test } from 'vitest'
import { FilledStore } from './filled-store.ts'

const concurrency = 5_000
const job = { input: Buffer.from('x'), door: 'gearman', level: 5, foreground: false } as const
const claim = { by: 'named', groups: [{ lanes: ['mail'] }], max: 1 } as const

test.skipIf(lacksRedis)(
  `a claim at a limit of ${concurrency} jobs looks at some of them, and others find one that has gone`,
  async () => {
    const throttles = new Map([['default', { concurrency }]])
    const filled = await FilledStore.open({ throttles })
    onTestFinished(() => filled.close())
    const lua = `
for id = first, last do
  redis.call('ZADD', 'xg:busy:mail', 9e15, id)
  redis.call('ZADD', 'xg:slots:default', id, 'mail\\0' .. id)
end`
    await filled.fill(concurrency, lua)
    const store = await filled.world.node()
    await store.lanes.register('mail')
    await filled.redis.set('uid:mail', concurrency)
    await store.steps.submit('mail', [job])
    const cost = await filled.cost(async () => {
      expect(await store.steps.claim(claim)).toEqual([])
    })
    expect(cost.commands).toBeLessThan(300)
    await filled.redis.zrem('xg:busy:mail', 4_321)
    await expect.poll(() => store.steps.claim(claim), { interval: 1 }).toHaveLength(1)
  },
)
