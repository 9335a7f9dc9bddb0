import { expect, test } from 'vitest'
import { idIn } from './support/handle-parts.ts'
import { describeGearman } from './support/gearman-gateway.ts'

const payload = Buffer.alloc(2 * 1024 * 1024, 'x')
/** More than a few seconds of looks and beats need, bytes; one payload is ten times as much. */
const maxSent = 200_000

describeGearman('needs redis-server: the payload of a job', ({ open, redis }) => {
  const sentBytes = async (): Promise<number> => {
    const stats = await redis('INFO', 'stats')
    return Number(/total_net_output_bytes:(\d+)/.exec(stats)?.[1])
  }

  /** Waits until the gateway has beaten so often: it looks at jobs with each beat. */
  async function beats(count: number): Promise<void> {
    for (let beat = 0; beat < count; beat += 1) {
      const nodes = (): Promise<string> => redis('ZRANGE', 'xg:nodes', '0', '-1', 'WITHSCORES')
      const before = await nodes()
      await expect.poll(nodes, { interval: 20 }).not.toBe(before)
    }
  }

  test('is not read again while clients wait for it or ask for its status', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    const queued = await client.submit('SUBMIT_JOB', 'mail', 'u', payload)
    const theirs = await client.submit('SUBMIT_JOB', 'native', '', payload)
    const id = idIn(theirs)
    const before = await sentBytes()
    // A native worker's progress is looked for four times a second.
    await redis('RPOP', 'queue:native:normal')
    await redis('HSET', `job:native:${id}`, 'status', 'busy')
    await redis('PUBLISH', 'channel:native', `start:${id}`)
    await beats(2)
    await redis('HSET', `job:native:${id}`, 'status:dividend', '1', 'status:divisor', '2')
    expect(await client.receive()).toEqual(['WORK_STATUS', theirs, '1', '2'])
    for (let asked = 0; asked < 5; asked += 1) {
      const status = ['STATUS_RES', queued, '1', '0', '0', '0']
      expect(await client.ask('GET_STATUS', queued)).toEqual(status)
      const ofUnique = ['STATUS_RES_UNIQUE', 'u', '1', '0', '0', '0', '1']
      expect(await client.ask('GET_STATUS_UNIQUE', 'u')).toEqual(ofUnique)
    }
    await beats(2)
    expect((await sentBytes()) - before).toBeLessThan(maxSent)
    await redis('HSET', `job:native:${id}`, 'status', 'success', 'output', 'done')
    await redis('PUBLISH', 'channel:native', `finish:${id}`)
    expect(await client.receive()).toEqual(['WORK_COMPLETE', theirs, 'done'])
    expect((await sentBytes()) - before).toBeLessThan(maxSent)
  })

  test('is not read when its worker runs out of time', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.peer()]
    await client.submit('SUBMIT_JOB_BG', 'mail', '', payload)
    worker.send('CAN_DO_TIMEOUT', 'mail', '1000')
    expect((await worker.ask('GRAB_JOB'))[0]).toBe('JOB_ASSIGN')
    const before = await sentBytes()
    const queued = (): Promise<string> => redis('LLEN', 'queue:mail:normal')
    await expect.poll(queued, { interval: 20 }).toBe('1')
    expect((await sentBytes()) - before).toBeLessThan(maxSent)
  })
})
