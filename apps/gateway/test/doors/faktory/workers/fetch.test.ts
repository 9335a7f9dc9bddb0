import { expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'

const blocksMs = 2_000

describeFaktory('FETCH', (gateways) => {
  test('answers null after two seconds', async () => {
    const { client, clock } = await gateways.open()
    const one = await client()
    one.send('FETCH')
    await clock.armed(blocksMs)
    clock.advance(blocksMs - 1)
    clock.advance(1)
    expect(await one.reply()).toBe('$-1')
  })

  test('refuses a thousand and one queues', async () => {
    const one = await gateways.client()
    const names = Array.from({ length: 1001 }, (_none, at) => `q${at}`)
    expect(await one.ask(`FETCH ${names.join(' ')}`)).toBe('-ERR too many queues: at most 1000')
  })

  test('takes from the queues strictly left to right, and first in first out in each', async () => {
    const one = await gateways.client()
    for (const jid of ['default-1', 'default-2']) await one.push(jid)
    for (const jid of ['critical-1', 'critical-2']) {
      await one.push(jid, { queue: 'critical', priority: 1 })
    }
    const jids = []
    for (let times = 0; times < 4; times += 1) {
      jids.push((await one.askJson('FETCH critical default'))['jid'])
    }
    expect(jids).toEqual(['critical-1', 'critical-2', 'default-1', 'default-2'])
  })

  test('takes the higher priority first, over all job types of a queue', async () => {
    const one = await gateways.client()
    for (const priority of [5, 1, 9, 3, 7, 8, 2, 6, 4]) {
      await one.push(`priority-${priority}`, { priority, jobtype: `type${priority % 3}` })
    }
    await one.push('priority-none')
    const jids = []
    for (let times = 0; times < 10; times += 1) jids.push((await one.askJson('FETCH'))['jid'])
    expect(jids).toEqual([
      'priority-9',
      'priority-8',
      'priority-7',
      'priority-6',
      'priority-5',
      'priority-none',
      'priority-4',
      'priority-3',
      'priority-2',
      'priority-1',
    ])
  })

  test.each(['a', 'b', 'c'])('that waits on a, b and c is woken by a push to %s', async (queue) => {
    const { client, clock } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    const producer = await client()
    worker.send('FETCH a b c')
    await clock.armed(blocksMs)
    await producer.push('12345678', { queue })
    expect(await worker.reply()).toContain('"jid":"12345678"')
  })

  test('is woken by a push at another node', async () => {
    const here = await gateways.open()
    const there = await gateways.open()
    const worker = await here.client({ wid: 'worker-1' })
    worker.send('FETCH')
    await here.clock.armed(blocksMs)
    await (await there.client()).push('12345678')
    expect(await worker.reply()).toContain('"jid":"12345678"')
  })

  test('gives each waiting worker one job before any gets a second', async () => {
    const { client, clock } = await gateways.open()
    const producer = await client()
    const workers = await Promise.all(['w-1', 'w-2', 'w-3'].map((wid) => client({ wid })))
    const replies = new Map<number, Promise<number>>()
    const wait = async (at: number, worker = workers[at]!): Promise<void> => {
      worker.send('FETCH')
      replies.set(
        at,
        worker.reply().then(() => at),
      )
      await clock.armed(blocksMs, replies.size)
    }
    for (const at of workers.keys()) await wait(at)
    for (const round of [1, 2, 3]) {
      const served = []
      for (const turn of workers.keys()) {
        await producer.push(`jid-${round}000${turn}`)
        const at = await Promise.race(replies.values())
        served.push(at)
        await wait(at)
      }
      expect(served.sort(), `round ${round}`).toEqual([0, 1, 2])
    }
    clock.advance(blocksMs)
    await Promise.all(replies.values())
  })

  test('hands out nothing to a client that has gone', async () => {
    const { client, clock } = await gateways.open()
    const leaver = await client({ wid: 'worker-1' })
    const stayer = await client({ wid: 'worker-2' })
    leaver.send('FETCH')
    await clock.armed(blocksMs, 1)
    stayer.send('FETCH')
    await clock.armed(blocksMs, 2)
    leaver.close()
    await (await client()).push('12345678')
    expect(await stayer.reply()).toContain('"jid":"12345678"')
  })

  test('gives no jobs to a worker while the gateway drains, but takes the outcomes of its last ones', async () => {
    const { client, clock, door, scheduler } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    const idler = await client({ wid: 'worker-2' })
    idler.send('FETCH')
    await clock.armed(blocksMs)
    scheduler.drain()
    door.drain()
    expect(await worker.push('23456789')).toBe('+OK')
    expect(await worker.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    worker.send('FETCH')
    await clock.armed(blocksMs, 2)
    clock.advance(blocksMs)
    expect(await idler.reply()).toBe('$-1')
    expect(await worker.reply()).toBe('$-1')
    expect(scheduler.running).toBe(0)
  })

  test('gives a worker with labels for functions the jobs of these alone', async () => {
    const worker = await gateways.client({ wid: 'worker-1', labels: ['golang', 'fn:mail'] })
    await worker.push('type-t-0')
    await worker.push('type-mail', { jobtype: 'mail' })
    expect(await worker.askJson('FETCH')).toMatchObject({ jid: 'type-mail' })
  })
})

describeFaktory('a job whose hash is damaged', (gateways) => {
  test('is handed out without what is wrong with it, and others go on', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const [one, producer] = [await here.client(), await there.client()]
    await producer.push('spoilt-00')
    await producer.push('12345678')
    await gateways.redis('HSET', 'job:t:1', 'envelope', 'no JSON')
    expect(await one.askJson('FETCH')).toMatchObject({ jid: 'spoilt-00', jobtype: 't' })
    expect(await one.ask('FETCH')).toContain('12345678')
  })
})
