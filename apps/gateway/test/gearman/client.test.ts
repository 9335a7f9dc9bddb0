import { describe, expect, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { gearmanGateways } from './support/gearman-gateway.ts'

describe.skipIf(lacksRedis)('needs redis-server: a Gearman client', () => {
  const { open } = gearmanGateways()

  test.each([
    ['SUBMIT_JOB', 'normal', true],
    ['SUBMIT_JOB_BG', 'normal', false],
    ['SUBMIT_JOB_HIGH', 'high', true],
    ['SUBMIT_JOB_HIGH_BG', 'high', false],
    ['SUBMIT_JOB_LOW', 'low', true],
    ['SUBMIT_JOB_LOW_BG', 'low', false],
  ] as const)('%s queues at %s', async (name, band, hearsMore) => {
    const gateway = await open()
    const client = await gateway.peer()
    const handle = await client.submit(name, 'mail', 'u1', 'a\0b')
    expect(handle).toMatch(/^H:test:[0-9a-z]+:\d+$/)
    const [counts] = await gateway.scheduler.jobs.counts(['mail'])
    expect(counts?.[band]).toBe(1)
    const worker = await gateway.worker('mail')
    const assigned = ['JOB_ASSIGN_UNIQ', handle, 'mail', 'u1', 'a\0b']
    expect(await worker.ask('GRAB_JOB_UNIQ')).toEqual(assigned)
    await worker.send('WORK_COMPLETE', handle, 'done\0too').sync()
    if (hearsMore) expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done\0too'])
    await client.sync()
  })

  test.each([
    ['SUBMIT_REDUCE_JOB', true],
    ['SUBMIT_REDUCE_JOB_BACKGROUND', false],
  ] as const)('%s carries its reducer', async (name, hearsMore) => {
    const gateway = await open()
    const client = await gateway.peer()
    const handle = await client.submit(name, 'map', 'u', 'reduce', 'unused', 'data')
    const worker = await gateway.worker('map')
    const assigned = ['JOB_ASSIGN_ALL', handle, 'map', 'u', 'reduce', 'data']
    expect(await worker.ask('GRAB_JOB_ALL')).toEqual(assigned)
    await worker.send('WORK_COMPLETE', handle, '').sync()
    if (hearsMore) expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, ''])
    await client.sync()
  })

  test('replies keep the order of the requests, however long each takes', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    client
      .send('SUBMIT_JOB_BG', 'first', '', '')
      .send('ECHO_REQ', 'x')
      .send('SUBMIT_JOB', 'b', '', '')
    client.send('GET_STATUS', 'H:none:1').sendBytes('version\n').send('SUBMIT_JOB_BG', 'c', '', '')
    const names = (await client.receiveMany(6)).map(([name]) => name)
    const expected = ['JOB_CREATED', 'ECHO_RES', 'JOB_CREATED', 'STATUS_RES', 'TEXT', 'JOB_CREATED']
    expect(names).toEqual(expected)
  })

  test('jobs of one unique id and function are one job, the first payload wins', async () => {
    const gateway = await open()
    const [one, other] = [await gateway.peer(), await gateway.peer()]
    const handle = await one.submit('SUBMIT_JOB', 'mail', 'same', 'first')
    expect(await other.submit('SUBMIT_JOB_HIGH', 'mail', 'same', 'second')).toBe(handle)
    expect(await other.submit('SUBMIT_JOB', 'post', 'same', 'third')).not.toBe(handle)
    const worker = await gateway.worker('mail')
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'mail', 'first'])
    expect(await one.submit('SUBMIT_JOB', 'mail', 'same', 'late')).toBe(handle)
    expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    await worker.send('WORK_COMPLETE', handle, 'done').sync()
    const complete = ['WORK_COMPLETE', handle, 'done']
    expect(await one.receiveMany(2)).toEqual([complete, complete])
    expect(await other.receive()).toEqual(complete)
    expect(await one.submit('SUBMIT_JOB', 'mail', 'same', 'new')).not.toBe(handle)
  })

  test('the unique id - means the payload, if there is one', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    const submit = (data: string) => client.submit('SUBMIT_JOB_BG', 'mail', '-', data)
    const handle = await submit('same')
    expect(await submit('same')).toBe(handle)
    expect(await submit('other')).not.toBe(handle)
    expect(await submit('')).not.toBe(await submit(''))
    const worker = await gateway.worker('mail')
    const assigned = ['JOB_ASSIGN_UNIQ', handle, 'mail', '-', 'same']
    expect(await worker.ask('GRAB_JOB_UNIQ')).toEqual(assigned)
  })

  test('GET_STATUS distinguishes queued, running and unknown jobs', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const status = () => client.ask('GET_STATUS', handle)
    expect(await status()).toEqual(['STATUS_RES', handle, '1', '0', '0', '0'])
    const worker = await gateway.worker('mail')
    await worker.ask('GRAB_JOB')
    await worker.send('WORK_STATUS', handle, '3', '10').sync()
    expect(await status()).toEqual(['STATUS_RES', handle, '1', '1', '3', '10'])
    await worker.send('WORK_COMPLETE', handle, '').sync()
    expect(await status()).toEqual(['STATUS_RES', handle, '0', '0', '0', '0'])
    const none = ['STATUS_RES', 'H:test:zz:9', '0', '0', '0', '0']
    expect(await client.ask('GET_STATUS', 'H:test:zz:9')).toEqual(none)
  })

  test('GET_STATUS_UNIQUE looks in all functions and counts waiting clients', async () => {
    const gateway = await open()
    const [one, other] = [await gateway.peer(), await gateway.peer()]
    await other.submit('SUBMIT_JOB_BG', 'post', 'another', '')
    await one.submit('SUBMIT_JOB', 'mail', 'u7', '')
    await other.submit('SUBMIT_JOB', 'mail', 'u7', '')
    const expected = ['STATUS_RES_UNIQUE', 'u7', '1', '0', '0', '0', '2']
    expect(await one.ask('GET_STATUS_UNIQUE', 'u7')).toEqual(expected)
    const none = ['STATUS_RES_UNIQUE', 'u8', '0', '0', '0', '0', '0']
    expect(await one.ask('GET_STATUS_UNIQUE', 'u8')).toEqual(none)
    const empty = ['STATUS_RES_UNIQUE', '', '0', '0', '0', '0', '0']
    expect(await one.ask('GET_STATUS_UNIQUE', '')).toEqual(empty)
  })

  test('GET_STATUS_UNIQUE finds the first job of a new function in the same write', async () => {
    const peer = await (await open()).peer()
    peer.send('SUBMIT_JOB_BG', 'new', 'u7', '').send('GET_STATUS_UNIQUE', 'u7')
    expect((await peer.receive())[0]).toBe('JOB_CREATED')
    const known = ['STATUS_RES_UNIQUE', 'u7', '1', '0', '0', '0', '0']
    expect(await peer.receive()).toEqual(known)
  })

  test('GET_STATUS_UNIQUE tells of the newest job, where several functions have one', async () => {
    const peer = await (await open()).peer()
    await peer.submit('SUBMIT_JOB_BG', 'z-first', 'u7', '')
    await peer.submit('SUBMIT_JOB', 'm-last', 'u7', '')
    await peer.submit('SUBMIT_JOB_BG', 'a-other', 'u8', '')
    const newest = ['STATUS_RES_UNIQUE', 'u7', '1', '0', '0', '0', '1']
    expect(await peer.ask('GET_STATUS_UNIQUE', 'u7')).toEqual(newest)
  })

  test('a client that has closed its half gets its replies, and then the end', async () => {
    const gateway = await open()
    const [client, peer] = [await gateway.peer(), await gateway.peer()]
    const handle = await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    peer.send('SUBMIT_JOB_BG', 'post', '', '').send('CAN_DO', 'mail').send('GRAB_JOB')
    peer.socket.end()
    expect((await peer.receive())[0]).toBe('JOB_CREATED')
    expect(await peer.receive()).toEqual(['JOB_ASSIGN', handle, 'mail', 'x'])
    const worker = await gateway.worker('mail')
    const again = ['JOB_ASSIGN', handle, 'mail', 'x']
    await expect.poll(() => worker.ask('GRAB_JOB')).toEqual(again)
  })

  test('GET_STATUS_UNIQUE does not look for an id that is too long for a job', async () => {
    const gateway = await open()
    const look = vi.spyOn(gateway.scheduler.jobs, 'findUnique')
    const peer = await gateway.peer()
    for (const length of [64, 65, 1_000_000]) {
      const unique = 'u'.repeat(length)
      const none = ['STATUS_RES_UNIQUE', unique, '0', '0', '0', '0', '0']
      expect(await peer.ask('GET_STATUS_UNIQUE', unique)).toEqual(none)
    }
    expect(look.mock.calls.map(([unique]) => unique.length)).toEqual([64])
  })

  test('a foreground job whose client left is not run', async () => {
    const gateway = await open()
    const leaver = await gateway.peer()
    await leaver.submit('SUBMIT_JOB', 'mail', '', 'abandoned')
    await leaver.leave()
    const client = await gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'mail', '', 'wanted')
    const worker = await gateway.worker('mail')
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'mail', 'wanted'])
  })

  test('a background job that a foreground client joined and left is run', async () => {
    const gateway = await open()
    const [leaver, client] = [await gateway.peer(), await gateway.peer()]
    const handle = await leaver.submit('SUBMIT_JOB', 'mail', 'u', 'data')
    await client.submit('SUBMIT_JOB_BG', 'mail', 'u', '')
    await leaver.leave()
    const worker = await gateway.worker('mail')
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'mail', 'data'])
  })

  test('SUBMIT_JOB_EPOCH is due at its second, and not before', async () => {
    const gateway = await open()
    const worker = await gateway.worker('later')
    await worker.send('PRE_SLEEP').sync()
    const client = await gateway.peer()
    const dueSeconds = Math.floor(Date.now() / 1000) + 3
    const handle = await client.submit('SUBMIT_JOB_EPOCH', 'later', 'u', String(dueSeconds), 'x')
    expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    worker.send('PRE_SLEEP')
    expect(await worker.receive()).toEqual(['NOOP'])
    expect(Date.now()).toBeGreaterThanOrEqual(dueSeconds * 1000)
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'later', 'x'])
  })

  test.each(['0', '-1', 'now', ''])('an epoch of %j is now', async (epoch) => {
    const gateway = await open()
    const client = await gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_EPOCH', 'later', '', epoch, 'x')
    const worker = await gateway.worker('later')
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'later', 'x'])
  })

  test('SUBMIT_JOB_SCHED waits for the next matching time', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    const now = new Date(gateway.scheduler.storeNowMs())
    const yesterday = String(((now.getUTCDay() + 6) % 7 || 7) - 1)
    await client.submit('SUBMIT_JOB_SCHED', 'later', 'u', '0', '0', '', '', yesterday, 'data')
    const [counts] = await gateway.scheduler.jobs.counts(['later'])
    expect(counts).toMatchObject({ normal: 0, scheduled: 1 })
    const never = ['ERROR', 'INVALID_ARGUMENT', 'No moment matches the schedule']
    const fields = ['0', '0', '31', '6', '']
    expect(await client.ask('SUBMIT_JOB_SCHED', 'later', 'u', ...fields, 'x')).toEqual(never)
  })

  test('the limit of a function counts all of its jobs', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', 'u1', '')
    expect(await client.command('maxqueue mail 1')).toBe('OK')
    const full = ['ERROR', 'QUEUE_ERROR', 'Job queue is full']
    expect(await client.ask('SUBMIT_JOB_HIGH_BG', 'mail', 'u2', '')).toEqual(full)
    expect(await client.ask('SUBMIT_JOB', 'mail', '', '')).toEqual(full)
    await client.submit('SUBMIT_JOB_BG', 'mail', 'u1', 'joins')
    expect(await client.command('maxqueue mail')).toBe('OK')
    await client.submit('SUBMIT_JOB_BG', 'mail', 'u2', '')
  })

  test('each priority has its own limit where three are given', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
    await client.command('maxqueue mail 0 1 2')
    await client.submit('SUBMIT_JOB_LOW_BG', 'mail', '', '')
    const full = ['ERROR', 'QUEUE_ERROR', 'Job queue is full']
    expect(await client.ask('SUBMIT_JOB_BG', 'mail', '', '')).toEqual(full)
    expect(await client.ask('SUBMIT_JOB_LOW_BG', 'mail', '', '')).toEqual(full)
    await client.submit('SUBMIT_JOB_HIGH_BG', 'mail', '', '')
  })

  test.each([
    ['an empty name', '', 'INVALID_FUNCTION_NAME'],
    ['513 bytes', 'f'.repeat(513), 'ARGUMENT_TOO_LARGE'],
    ['bytes that are no UTF-8', Buffer.from([0xc3, 0x28]), 'INVALID_FUNCTION_NAME'],
  ])('%s is no function', async (_what, fn, code) => {
    const gateway = await open()
    const client = await gateway.peer()
    expect((await client.ask('SUBMIT_JOB_BG', fn, '', ''))[1]).toBe(code)
    expect((await client.ask('CAN_DO', fn))[1]).toBe(code)
    expect(await client.list('status')).toEqual([])
  })

  test('names of 512 bytes, and of several alphabets, are valid functions', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    const names = ['f'.repeat(512), 'Wörter 数える', 'a:b:c', 'status\tx']
    for (const fn of names) {
      const handle = await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
      const worker = await gateway.worker(fn)
      expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, fn, 'x'])
    }
  })

  test('a unique id or reducer over 64 bytes is too large', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    const error = ['ERROR', 'ARGUMENT_TOO_LARGE', 'Unique value too large']
    const long = 'u'.repeat(65)
    expect(await client.ask('SUBMIT_JOB', 'mail', long, '')).toEqual(error)
    expect(await client.ask('SUBMIT_REDUCE_JOB', 'mail', '', long, '', '')).toEqual(error)
    await client.submit('SUBMIT_JOB', 'mail', 'u'.repeat(64), '')
  })

  test('a payload of 5 MB arrives as it left', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    const data = Buffer.alloc(5_000_000, Buffer.from([0, 255, 10, 13, 82]))
    const handle = await client.submit('SUBMIT_JOB', 'mail', '', data)
    const worker = await gateway.worker('mail')
    const assigned = await worker.send('GRAB_JOB').receiveBytes()
    expect(assigned?.equals(data)).toBe(true)
    worker.send('WORK_COMPLETE', handle, data)
    const completed = await client.receiveBytes()
    expect(completed?.equals(data)).toBe(true)
  })
})
