import { expect, test } from 'vitest'
import { claimByName } from '../../../support/claims.ts'
import { describeFaktory } from '../support/faktory-gateway.ts'

const past = '2020-01-01T00:00:00Z'
const ahead = '2999-01-01T00:00:00Z'

describeFaktory('expiring jobs', (gateways) => {
  test.each([
    ['at a time that is past', { expires_at: past }],
    ['at once', { expires_in: 0 }],
    ['at the earlier of two times', { expires_at: ahead, expires_in: '0s' }],
  ])('that expire %s are not given out, on any node, and are counted', async (_name, custom) => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const producer = await here.client()
    expect(await producer.push('expired1', { custom })).toBe('+OK')
    await producer.push('lasting1')
    const worker = await there.client({ wid: 'w1' })
    expect((await worker.askJson('FETCH default'))['jid']).toBe('lasting1')
    expect(await worker.ask('ACK {"jid":"expired1"}')).toBe('+OK')
    expect((await producer.askJson('INFO'))['faktory']).toMatchObject({
      total_expired: 1,
      total_enqueued: 0,
      total_failures: 0,
    })
  })

  test('are not handed out to a worker that named the function either', async () => {
    const { client, scheduler } = await gateways.open()
    const producer = await client()
    await producer.push('expired1', { custom: { expires_at: past } })
    await producer.push('lasting1')
    expect((await claimByName(scheduler, 't'))?.job.jid).toBe('lasting1')
  })

  test.each([{ expires_at: ahead }, { expires_in: 3600 }, { expires_in: '1h30m' }])(
    'are handed out before their time, with their custom as it was: %j',
    async (custom) => {
      const one = await gateways.client()
      await one.push('lasting1', { custom })
      expect(await one.askJson('FETCH')).toMatchObject({ jid: 'lasting1', custom })
    },
  )

  test('a time in seconds counts from when the job is due', async () => {
    const at = '2030-01-01T00:00:00Z'
    await (await gateways.client()).push('lasting1', { at, custom: { expires_in: 60 } })
    const stale = Date.parse(at) + 60_000
    expect(await gateways.redis('HGET', 'job:t:1', 'stale')).toContain(String(stale))
  })
})
