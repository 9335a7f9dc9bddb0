import { expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'
import { figures, infoOf, nothing } from '../support/figures.ts'

const blocksMs = 2_000

describeFaktory('QUEUE', (gateways) => {
  test('PAUSE makes FETCH skip a queue at every node, until RESUME wakes waiting consumers', async () => {
    const here = await gateways.open()
    const there = await gateways.open()
    const operator = await here.client()
    await operator.push('paused-0')
    await operator.push('flowing-0', { queue: 'flowing' })
    expect(await operator.ask('QUEUE PAUSE default')).toBe('+OK')
    await expect.poll(() => there.scheduler.queues.paused.has('default')).toBe(true)
    const worker = await there.client({ wid: 'worker-1' })
    expect(await worker.ask('FETCH default flowing')).toContain('flowing-0')
    worker.send('FETCH default flowing')
    await there.clock.armed(blocksMs)
    expect(await operator.push('paused-1')).toBe('+OK')
    expect(await operator.ask('QUEUE RESUME default')).toBe('+OK')
    expect(await worker.reply()).toContain('paused-0')
  })

  test('a pause outlives the gateway, and RESUME * ends it', async () => {
    const first = await gateways.open()
    const one = await first.client()
    await one.push('12345678')
    await one.ask('QUEUE PAUSE *')
    const second = await gateways.open()
    expect([...second.scheduler.queues.paused]).toEqual(['default'])
    const two = await second.client()
    await two.ask('QUEUE RESUME *')
    expect(await two.ask('FETCH')).toContain('12345678')
  })

  test('a paused queue is skipped by workers with labels, too', async () => {
    const { client, clock } = await gateways.open()
    const worker = await client({ wid: 'worker-1', labels: ['fn:t'] })
    await worker.push('12345678')
    await worker.ask('QUEUE PAUSE default')
    worker.send('FETCH')
    await clock.armed(blocksMs)
    clock.advance(blocksMs)
    expect(await worker.reply()).toBe('$-1')
  })

  test('REMOVE ends the queued jobs, and nothing else', async () => {
    const one = await gateways.client()
    for (const priority of [1, 5, 9]) {
      await one.push(`bulk-000${priority}`, { queue: 'bulk', priority })
    }
    await one.pushAndFetch('running-0', { queue: 'bulk', priority: 9 })
    await one.push('scheduled', { queue: 'bulk', at: '2999-01-01T00:00:00Z' })
    await one.push('12345678')
    expect(await one.ask('QUEUE REMOVE bulk')).toBe('+OK')
    expect(await figures(one)).toEqual({ ...nothing, enqueued: 1, working: 1, scheduled: 1 })
    expect((await gateways.redis('KEYS', 'job:t@bulk:*')).split(',')).toHaveLength(2)
  })

  test('REMOVE takes the name out of INFO at every node, until another job is pushed', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const [one, other] = [await here.client({ wid: 'worker-1' }), await there.client()]
    const queues = async (): Promise<object> => {
      const { queues: sizes, total_queues } = await infoOf(other)
      return { sizes, total_queues }
    }
    await one.push('12345678')
    await one.push('bulk-0001', { queue: 'bulk' })
    await one.push('bulk-0002', { queue: 'bulk', jobtype: 'other' })
    await expect.poll(queues).toEqual({ sizes: { default: 1, bulk: 2 }, total_queues: 2 })
    await one.ask('QUEUE REMOVE bulk')
    expect(await queues()).toEqual({ sizes: { default: 1 }, total_queues: 1 })
    await one.pushAndFetch('bulk-0003', { queue: 'bulk' })
    expect(await queues()).toEqual({ sizes: { default: 1, bulk: 0 }, total_queues: 2 })
  })

  test.each(['REMOVE default', 'REMOVE *'])('%s ends a pause, too', async (command) => {
    const one = await gateways.client()
    await one.push('removed-0')
    await one.ask('QUEUE PAUSE default')
    expect(await one.ask(`QUEUE ${command}`)).toBe('+OK')
    await one.push('12345678')
    expect(await one.ask('FETCH')).toContain('12345678')
  })

  test('keeps the order of pipelined commands', async () => {
    const one = await gateways.client()
    await one.push('12345678')
    one.send('QUEUE PAUSE default', 'QUEUE RESUME *', 'FETCH')
    expect([await one.reply(), await one.reply()]).toEqual(['+OK', '+OK'])
    expect(await one.reply()).toContain('12345678')
  })

  test('LATENCY answers the age of the oldest job of each queue in seconds', async () => {
    const { client, scheduler } = await gateways.open()
    const one = await client()
    await one.push('12345678', { queue: 'old' })
    await gateways.redis('HSET', 'job:t@old:1', 'enqueued', String(scheduler.storeNowMs() - 60_000))
    await one.push('23456789', { queue: 'old', jobtype: 'other' })
    const latency = await one.askJson('QUEUE LATENCY old empty')
    expect(latency['old']).toBeGreaterThanOrEqual(60)
    expect(latency['old']).toBeLessThan(120)
    expect(latency['empty']).toBe(0)
  })
})

describeFaktory('FLUSH', (gateways) => {
  test('ends every job in every place, and touches no foreign key', async () => {
    const one = await gateways.client({ wid: 'worker-1' })
    await gateways.redis('SET', 'mine', 'yes')
    await one.push('dead-job-', { retry: -1 })
    await one.push('retry-job')
    await one.push('running-0', { priority: 1 })
    for (const jid of ['dead-job-', 'retry-job']) {
      await one.ask('FETCH')
      await one.ask(`FAIL {"jid":"${jid}"}`)
    }
    await one.ask('FETCH')
    await one.push('queued-00')
    await one.push('scheduled', { at: '2999-01-01T00:00:00Z' })
    expect(await figures(one)).toMatchObject({
      enqueued: 1,
      scheduled: 1,
      retries: 1,
      dead: 1,
      working: 1,
    })
    expect(await infoOf(one)).toMatchObject({ queues: { default: 1 }, total_queues: 1 })
    expect(await one.ask('FLUSH')).toBe('+OK')
    expect(await figures(one)).toEqual(nothing)
    expect(await infoOf(one)).toMatchObject({ queues: {}, total_queues: 0 })
    expect(await gateways.redis('KEYS', 'job:*')).toBe('')
    expect(await gateways.redis('GET', 'mine')).toBe('yes')
    expect(await one.ask('ACK {"jid":"running-0"}')).toBe('+OK')
    expect(await one.push('after-all')).toBe('+OK')
    expect(await one.ask('FETCH')).toContain('after-all')
    await one.ask('ACK {"jid":"after-all"}')
    expect(await figures(one)).toEqual({ ...nothing, processed: 1 })
  })

  test('is refused where the operator does not allow it', async () => {
    const { client } = await gateways.open({ mayFlush: () => false })
    expect(await (await client()).ask('FLUSH')).toBe('-ERR FLUSH is not allowed from this address')
  })
})
