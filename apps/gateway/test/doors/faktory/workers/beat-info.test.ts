import { expect, onTestFinished, test } from 'vitest'
import { FaktoryRetries } from '../../../../src/bridge/faktory-retries.ts'
import type { WorkerConnection } from '../../../../src/doors/faktory/workers.ts'
import { infoOf, type Info } from '../support/figures.ts'
import { describeFaktory } from '../support/faktory-gateway.ts'

const blocksMs = 2_000

describeFaktory('BEAT', (gateways) => {
  test('changes no other worker, whatever the wid', async () => {
    const { client, stranger, door } = await gateways.open()
    await client({ wid: 'worker-1' })
    const forger = await stranger()
    await forger.reply()
    expect(await forger.ask('HELLO {"v":2,"wid":"*\\u0000terminate"}')).toBe(
      '-ERR invalid HELLO: wid must not contain control characters',
    )
    expect(await forger.closed()).toBe('')
    expect(door.workers.find('worker-1')?.state).toBe('running')
  })

  test('passes a new state to every connection of the wid, and never an earlier one', async () => {
    const { client, door } = await gateways.open()
    const one = await client({ wid: 'worker-1' })
    const two = await client({ wid: 'worker-1' })
    const other = await client({ wid: 'worker-2' })
    door.workers.find('worker-1')?.advance('quiet')
    const beat = 'BEAT {"wid":"worker-1"}'
    expect(await one.ask(beat)).toBe('$17\r\n{"state":"quiet"}')
    expect(await two.ask(beat)).toBe('$17\r\n{"state":"quiet"}')
    expect(await other.ask('BEAT {"wid":"worker-2"}')).toBe('+OK')
    door.workers.find('worker-1')?.advance('terminate')
    door.workers.find('worker-1')?.advance('quiet')
    expect(await two.ask(beat)).toBe('$21\r\n{"state":"terminate"}')
  })

  test('of a process that starts again with a wid is not that of the old one, which left a job', async () => {
    const { client, door } = await gateways.open()
    const old = await client({ wid: 'worker-1' })
    await old.pushAndFetch('12345678')
    expect(await old.ask('BEAT {"wid":"worker-1","current_state":"terminate"}')).toContain('term')
    old.close()
    await expect.poll(() => door.workers.find('worker-1')?.connections.size).toBe(0)
    const again = await client({ wid: 'worker-1' })
    expect(await again.ask('BEAT {"wid":"worker-1"}')).toBe('+OK')
    await again.push('87654321')
    expect(await again.ask('FETCH')).toContain('"jid":"87654321"')
    expect(await again.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect((await infoOf(again)).tasks).toMatchObject({ Busy: { size: 1 } })
  })

  test('gives a quiet worker no jobs, not even to a waiting FETCH', async () => {
    const { client, clock, door } = await gateways.open()
    const one = await client({ wid: 'worker-1' })
    const two = await client({ wid: 'worker-1' })
    const other = await client({ wid: 'worker-2' })
    one.send('FETCH')
    await clock.armed(blocksMs)
    door.workers.find('worker-1')?.advance('quiet')
    two.send('FETCH')
    await clock.armed(blocksMs, 2)
    other.send('FETCH')
    await clock.armed(blocksMs, 3)
    await (await client()).push('12345678')
    expect(await other.reply()).toContain('12345678')
    clock.advance(blocksMs)
    expect(await one.reply()).toBe('$-1')
    expect(await two.reply()).toBe('$-1')
  })

  test('keeps a worker alive; without it all its connections are closed after a minute', async () => {
    const { client, clock, rejections } = await gateways.open()
    const silent = [await client({ wid: 'silent' }), await client({ wid: 'silent' })]
    const beating = await client({ wid: 'beating' })
    const producer = await client()
    clock.advance(45_000)
    expect(await beating.ask('BEAT {"wid":"beating"}')).toBe('+OK')
    clock.advance(15_000)
    for (const one of silent) await one.closed()
    expect(await beating.ask('BEAT {"wid":"beating"}')).toBe('+OK')
    expect(await producer.ask('FOO')).toBe('-ERR unknown command FOO')
    expect(rejections).toEqual(['dead', 'dead'])
  })

  test('keeps the connections of a worker at other gateways alive', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const heard: string[] = []
    onTestFinished(there.scheduler.queues.onConsumerNews((wid) => void heard.push(wid)))
    const beating = await here.client({ wid: 'worker-1' })
    const elsewhere = await there.client({ wid: 'worker-1' })
    const silent = await there.client({ wid: 'silent' })
    // A HELLO is a sign of life, too.
    await expect.poll(() => heard).toHaveLength(3)
    there.clock.advance(45_000)
    expect(await beating.ask('BEAT {"wid":"worker-1"}')).toBe('+OK')
    await expect.poll(() => heard[3]).toBe('worker-1')
    there.clock.advance(15_000)
    await silent.closed()
    expect(await elsewhere.ask('BEAT {"wid":"worker-1"}')).toBe('+OK')
    expect(there.rejections).toEqual(['dead'])
  })

  test('knows a worker that comes back before its closed connections are gone', async () => {
    const { door, clock } = await gateways.open()
    const { workers } = door
    const hello = { wid: 'worker-1', labels: [], fields: new Map<string, string>() }
    const connection = (): WorkerConnection => ({
      peer: '127.0.0.1:1',
      quieted: () => undefined,
      drop: () => undefined,
    })
    const closed = connection()
    const before = workers.join(hello, closed)
    clock.advance(60_000)
    const after = workers.join(hello, connection())
    workers.leave(before, closed, true)
    expect(workers.find('worker-1')).toBe(after)
  })
})

describeFaktory('INFO', (gateways) => {
  test('has every field that clients and dashboards read', async () => {
    const one = await gateways.client({ wid: 'worker-1' })
    await one.push('12345678')
    await one.push('23456789', { queue: 'bulk' })
    const info = await one.askJson('INFO')
    const [cycles, wallTimeSec] = [expect.any(Number), expect.any(Number)] as unknown[]
    const scanned = { size: 0, enqueued: 0, cycles, wall_time_sec: wallTimeSec }
    expect(info).toEqual({
      now: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
      server_utc_time: expect.stringMatching(/^\d\d:\d\d:\d\d UTC$/),
      faktory: {
        default_size: 1,
        queues: { default: 1, bulk: 1 },
        sets: { scheduled: 0, retries: 0, dead: 0, working: 0 },
        tasks: {
          Busy: { size: 0, reaped: 0 },
          Dead: scanned,
          Retries: scanned,
          Scheduled: scanned,
          Workers: { size: 1, reaped: 0 },
        },
        total_enqueued: 2,
        total_expired: 0,
        total_failures: 0,
        total_processed: 0,
        total_queues: 2,
      },
      server: {
        description: 'Faktory Enterprise (Crossgear)',
        faktory_version: '1.10.0',
        crossgear_version: '0.1.0',
        uptime: 0,
        connections: 1,
        command_count: 3,
        used_memory_mb: expect.any(Number),
      },
    })
  })

  test('counts the work of its tasks: jobs that were due, failed or were held too long', async () => {
    const { client } = await gateways.open({
      schedulerOptions: { retryRules: new FaktoryRetries(() => 0) },
    })
    const one = await client({ wid: 'worker-1' })
    const tasks = async (): Promise<Info['tasks']> => (await infoOf(one)).tasks
    const soon = new Date(Date.now() + 2_000).toISOString()
    await one.push('scheduled', { queue: 'later', at: soon })
    await expect.poll(tasks).toMatchObject({ Scheduled: { enqueued: 1 }, Retries: { enqueued: 0 } })
    await one.pushAndFetch('12345678')
    await one.ask('FAIL {"jid":"12345678"}')
    await gateways.redis('ZADD', 'queue:t:scheduled', '0', '1')
    await gateways.redis('ZADD', 'xg:due', '0', 't')
    await expect.poll(tasks).toMatchObject({ Scheduled: { enqueued: 1 }, Retries: { enqueued: 1 } })
    await one.ask('FETCH')
    await gateways.redis('ZADD', 'xg:busy:t', '0', '1')
    await expect.poll(tasks).toMatchObject({ Busy: { size: 0, reaped: 1 } })
    const before = await tasks()
    await expect
      .poll(async () => (await tasks())['Retries']?.['cycles'])
      .toBeGreaterThan(before['Retries']?.['cycles'] ?? Infinity)
    expect(before['Retries']?.['wall_time_sec']).toBeGreaterThan(0)
  })

  test('counts the workers that were taken for dead', async () => {
    const { client, clock } = await gateways.open()
    const [dead, one] = [await client({ wid: 'worker-1' }), await client({ wid: 'worker-2' })]
    clock.advance(45_000)
    await one.ask('BEAT {"wid":"worker-2"}')
    clock.advance(15_000)
    await dead.closed()
    expect((await infoOf(one)).tasks).toMatchObject({
      Workers: { size: 1, reaped: 1 },
    })
  })

  test('is near the clock of this machine', async () => {
    const info = (await (await gateways.client()).askJson('INFO')) as unknown as {
      readonly now: string
    }
    expect(Math.abs(Date.parse(info.now) - Date.now())).toBeLessThan(60_000)
  })
})
