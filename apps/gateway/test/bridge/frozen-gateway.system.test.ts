import { expect, onTestFinished, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { Fleet } from './support/fleet.ts'

test.skipIf(lacksRedis)(
  'a gateway that stood still has its workers and clients again, though one function could not be reclaimed',
  async () => {
    const fleet = await Fleet.start()
    onTestFinished(() => fleet.close())
    const { redis } = fleet
    const [frozen, other] = [await fleet.node(), await fleet.node()]
    const client = await frozen.peer()
    await client.submit('SUBMIT_JOB_BG', 'bad', '', '')
    const handle = await client.submit('SUBMIT_JOB', 'mail', '', 'x')
    await frozen.peer('sms')
    const busy = await frozen.peer('bad')
    expect((await busy.ask('GRAB_JOB'))[0]).toBe('JOB_ASSIGN')
    await expect.poll(() => redis.get('count:sms'), soon).toBe('1')
    await redis.set('queue:bad:normal', 'theirs')
    const waits = async (): Promise<string> => (await redis.hget('job:mail:1', 'wait')) ?? ''
    const node = await waits()
    expect(node).not.toBe('')

    frozen.freeze()
    onTestFinished(() => frozen.thaw())
    await expect.poll(waits, soon).toBe('')
    await expect.poll(() => redis.get('count:sms'), soon).toBe('0')
    frozen.thaw()
    await expect.poll(waits, soon).toBe(node)
    await expect.poll(() => redis.get('count:sms'), soon).toBe('1')
    const worker = await other.peer('mail')
    expect((await worker.ask('GRAB_JOB')).slice(0, 2)).toEqual(['JOB_ASSIGN', handle])
    worker.send('WORK_COMPLETE', handle, 'done')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])

    await redis.del('queue:bad:normal')
    await expect.poll(() => redis.hlen('xg:deaths'), soon).toBe(0)
  },
)
