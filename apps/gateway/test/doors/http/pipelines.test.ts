import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { ask, background, openRaw, postText, readUntil } from './support/http-client.ts'
import { nextJob, openHttp, type HttpGateway } from './support/http-gateway.ts'
import { requestBytes } from '../../../src/doors/http/http-door.ts'

/** How many jobs are queued. */
async function queued({ scheduler }: HttpGateway): Promise<number> {
  const lanes = await scheduler.jobs.counts()
  return lanes.reduce((sum, { normal }) => sum + normal, 0)
}

describe('requests that were sent before the answer to the first', () => {
  test('are answered in their order', async () => {
    const { port, worker } = await openHttp()
    const hands = await worker('f')
    const socket = await openRaw(port)
    socket.write(postText('f', 'one') + postText('f', 'two'))
    const [first, second] = [await nextJob(hands), await nextJob(hands)]
    hands.send('WORK_COMPLETE', second[0]!, '2222').send('WORK_COMPLETE', first[0]!, '1111')
    expect(await readUntil(socket, '2222')).toMatch(/1111[^]*2222$/)
    socket.destroy()
  })

  test('may wait as long as their jobs take', async () => {
    const { port, worker, rejections } = await openHttp({ stallMs: 20 })
    const hands = await worker('f', 'large')
    const socket = await openRaw(port)
    socket.write(postText('f', 'one') + postText('f', 'two'))
    const [first, second] = [await nextJob(hands), await nextJob(hands)]
    hands.send('WORK_COMPLETE', first[0]!, '1111')
    expect(await readUntil(socket, '1111')).toMatch(/1111$/)

    // Longer than a client may take nothing of an answer that is there: another does.
    const other = await openRaw(port)
    other.pause().write(postText('large'))
    const [handle = ''] = await nextJob(hands)
    hands.send('WORK_COMPLETE', handle, Buffer.alloc(20_000_000))
    await expect.poll(() => rejections).toEqual(['slow'])
    hands.send('WORK_COMPLETE', second[0]!, '2222')
    expect(await readUntil(socket, '2222')).toMatch(/2222$/)
    for (const open of [socket, other]) open.destroy()
  })

  test('are not run when their client leaves', async () => {
    const gateway = await openHttp()
    const socket = await openRaw(gateway.port)
    socket.write(postText('f', 'one') + postText('f', 'two') + postText('f', 'three'))
    await expect.poll(() => queued(gateway)).toBe(3)
    socket.destroy()
    await expect
      .poll(async () => (await gateway.scheduler.admin.listJobs(10)).map((job) => job.abandoned))
      .toEqual([true, true, true])
  })

  test('keep no bytes of an outcome after their client left', async () => {
    const { port, worker } = await openHttp({ maxBufferedBytes: 1000 + 2 * requestBytes })
    const hands = await worker('f', 'g')
    const socket = await openRaw(port)
    socket.write(postText('f') + postText('g'))
    const jobs = [await nextJob(hands), await nextJob(hands)]
    const [handle = ''] = jobs.find(([, fn]) => fn === 'g') ?? []
    hands.send('WORK_DATA', handle, Buffer.alloc(900))
    await hands.sync()
    socket.destroy()
    const body = 'x'.repeat(900 + requestBytes)
    await expect
      .poll(async () => (await ask(port, '/h', { headers: background }, body)).status)
      .toBe(200)
  })

  test('end their connection when they are too many', async () => {
    const { port, rejections } = await openHttp()
    const socket = await openRaw(port)
    socket.on('error', () => undefined).resume()
    socket.write(postText('f').repeat(1100))
    await once(socket, 'close')
    expect(rejections).toEqual(['pipeline'])
  })

  test('do not count as malformed because of the bytes after them', async () => {
    const gateway = await openHttp()
    const socket = await openRaw(gateway.port)
    socket.write(postText('f', 'one'))
    await expect.poll(() => queued(gateway)).toBe(1)
    socket.write('no request\r\n\r\n')
    expect(await readUntil(socket, 'never')).toBe('')
    expect(gateway.rejections).toEqual(['malformed'])
  })
})
