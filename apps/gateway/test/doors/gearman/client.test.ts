import { expect, test, vi } from 'vitest'
import { describeGearman } from './support/gearman-gateway.ts'
import { idIn, laneNumberIn } from './support/handle-parts.ts'

describeGearman('needs redis-server: a Gearman client', ({ open }) => {
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

  test('a handle of a former version names its job for GET_STATUS, cancel job and no other', async () => {
    const gateway = await open()
    const [peer, admin] = [await gateway.peer(), await gateway.peer()]
    const handle = await peer.submit('SUBMIT_JOB', 'mail', 'u7', '')
    const former = `H:older:${laneNumberIn(handle).toString(36)}:${idIn(handle)}`
    expect(await peer.ask('GET_STATUS', former)).toEqual(['STATUS_RES', former, '1', '0', '0', '0'])
    expect((await peer.ask('GET_STATUS', `${former}0`)).slice(2)).toEqual(['0', '0', '0', '0'])
    expect(await admin.command(`cancel job ${former}`)).toBe('OK')
    expect(await peer.receive()).toEqual(['WORK_FAIL', handle])
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

  test('names of 512 bytes, and of several alphabets, are valid functions', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    const names = ['f'.repeat(512), 'Wörter 数える', 'a:b:c', 'status x']
    for (const fn of names) {
      const handle = await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
      const worker = await gateway.worker(fn)
      expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, fn, 'x'])
    }
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
