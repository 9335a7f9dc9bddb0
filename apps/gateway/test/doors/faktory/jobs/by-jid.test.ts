import { expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'

const jobtypes = 2_000

describeFaktory(`a jid among ${jobtypes} job types`, ({ open, redis }) => {
  /** Look-ups in hashes, of all that the server has done since the figures were set to zero. */
  async function lookups(): Promise<number> {
    const stats = await redis('INFO', 'commandstats')
    const calls = ['hget', 'hmget'].map((name) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0),
    )
    return calls.reduce((sum, count) => sum + count, 0)
  }

  test('costs as much as among a few, on whichever gateway it is named', async () => {
    const [here, there] = [await open(), await open()]
    const [producer, worker] = [await here.client(), await here.client({ wid: 'worker-1' })]
    const stranger = await there.client({ wid: 'worker-2' })
    const jobs = Array.from({ length: jobtypes }, (_none, at) => ({
      jid: `jid-${at}-0000`,
      jobtype: `type-${at}`,
      args: [],
      at: '2999-01-01T00:00:00Z',
      custom: { track: 1 },
    }))
    await producer.ask(`PUSHB ${JSON.stringify(jobs)}`)
    await producer.push('held-0001', { jobtype: 'held' })
    expect(await worker.askJson('FETCH')).toMatchObject({ jid: 'held-0001' })
    await redis('CONFIG', 'RESETSTAT')
    const jids = Array.from({ length: 500 }, (_none, at) => `unknown-${at}`)
    const filter = { jids: [...jids, 'jid-1999-0000'] }
    const order = { cmd: 'discard', target: 'scheduled', filter }
    expect(await stranger.ask(`MUTATE ${JSON.stringify(order)}`)).toBe('+OK')
    expect(await stranger.askJson('TRACK GET jid-1998-0000')).toMatchObject({ state: 'scheduled' })
    expect(await stranger.askJson('TRACK GET unknown-1')).toMatchObject({ state: 'unknown' })
    expect(await stranger.ask('FAIL {"jid":"unknown-1"}')).toBe('-ERR Job not found unknown-1')
    expect(await stranger.ask('ACK {"jid":"held-0001"}')).toBe('+OK')
    // The rest is what gateways do by the way: before, each jid took a look-up in each of 2,000 hashes.
    expect(await lookups()).toBeLessThan(50_000)
    expect(await stranger.askJson('TRACK GET jid-1999-0000')).toMatchObject({ state: 'failed' })
    expect(await stranger.askJson('TRACK GET held-0001')).toMatchObject({ state: 'unknown' })
  })
})
