import { randomUUID } from 'node:crypto'
import { soon } from '@crossgear/tools/wait-for'
import { expect, test, vi } from 'vitest'
import { idIn } from '../doors/gearman/support/handle-parts.ts'
import { describeFleet } from './support/fleet.ts'

describeFleet('a job that a native client wrote under an id', [], (fleet) => {
  async function write(fn: string, id: string): Promise<void> {
    await fleet.redis.hset(`job:${fn}:${id}`, { status: 'idle', input: `input ${id}` })
    await fleet.redis.lpush(`queue:${fn}:normal`, id)
    await fleet.redis.publish(`channel:${fn}`, `create:${id}`)
  }

  test.each(['1', '0', '9007199254740991'])('of %s has a handle that works', async (id) => {
    const fn = randomUUID()
    const worker = await fleet.first.peer(fn)
    await write(fn, id)
    const { handle, input } = await worker.nextJob()
    expect(input).toBe(`input ${id}`)
    expect(idIn(handle)).toBe(id)
    const client = await fleet.first.peer()
    const running = ['STATUS_RES', handle, '1', '1', '0', '0']
    expect(await client.ask('GET_STATUS', handle)).toEqual(running)
    worker.send('WORK_COMPLETE', handle, 'done')
    await worker.sync()
    await vi.waitFor(async () => {
      const job = await fleet.redis.hgetall(`job:${fn}:${id}`)
      expect(job).toMatchObject({ status: 'success', output: 'done' })
    }, soon)
  })

  test.each(['next', '007', '9007199254740992'])(
    'of %s, which no handle can have, ends as an error when a worker would get it',
    async (id) => {
      const fn = randomUUID()
      const worker = await fleet.first.peer(fn)
      await write(fn, id)
      await write(fn, '8')
      const { handle, input } = await worker.nextJob()
      expect([idIn(handle), input]).toEqual(['8', 'input 8'])
      expect(await fleet.redis.brpop(`lock:${fn}:${id}`, 20)).toEqual([`lock:${fn}:${id}`, 'OK'])
      expect(await fleet.redis.hgetall(`job:${fn}:${id}`)).toMatchObject({
        status: 'error',
        output: 'the id of a job is an integer from 0 to 9007199254740991',
      })
    },
  )
})
