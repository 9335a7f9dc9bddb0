import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Redis } from 'ioredis'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { idIn } from '../doors/gearman/support/handle-parts.ts'
import { Fleet, type FleetNode } from './support/fleet.ts'

describe.skipIf(lacksRedis)('gateways on two databases of a server', () => {
  let fleet: Fleet
  let one: FleetNode
  let two: FleetNode
  beforeAll(async () => {
    fleet = await Fleet.start()
    ;[one, two] = await Promise.all([fleet.nodeOn(1), fleet.nodeOn(2)])
  })
  afterAll(() => fleet.close())

  /** A job that a worker of the same node has, with the client that waits for it. */
  async function running(node: FleetNode, fn: string) {
    const [client, able] = [await node.peer(), await node.peer(fn)]
    const handle = await client.submit('SUBMIT_JOB', fn, '', 'input')
    expect(await able.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, fn, 'input'])
    return { client, able, handle }
  }

  const functionsOf = (lines: readonly string[]): (string | undefined)[] =>
    lines.map((line) => line.split('\t')[0])

  test('keep jobs of one function and one id apart', async () => {
    // The same function has other numbers, the same numbers are other functions.
    await (await one.peer()).submit('SUBMIT_JOB_BG', 'only-one', '', '')
    const here = await running(one, 'mail')
    await (await two.peer()).submit('SUBMIT_JOB_BG', 'only-two', '', '')
    const there = await running(two, 'mail')
    for (const [node, { handle }] of [[one, here] as const, [two, there] as const]) {
      const asked = (await node.peer()).ask('GET_STATUS', handle)
      expect(await asked).toEqual(['STATUS_RES', handle, '1', '1', '0', '0'])
    }
    here.able.send('WORK_COMPLETE', here.handle, 'from one')
    expect(await here.client.receive()).toEqual(['WORK_COMPLETE', here.handle, 'from one'])
    there.able.send('WORK_DATA', there.handle, 'still')
    expect(await there.client.receive()).toEqual(['WORK_DATA', there.handle, 'still'])
    there.able.send('WORK_COMPLETE', there.handle, 'from two')
    expect(await there.client.receive()).toEqual(['WORK_COMPLETE', there.handle, 'from two'])
    const lists = await Promise.all(
      [one, two].map(async (node) => (await node.peer()).list('status')),
    )
    expect(lists.map((lines) => functionsOf(lines).sort())).toEqual([
      ['mail', 'only-one'],
      ['mail', 'only-two'],
    ])
  })

  test('ignore functions announced in the other', async () => {
    const consumer = await two.client({ wid: 'w1', pid: 1 })
    const fetching = consumer.ask('FETCH default')
    const announcing = await one.peer()
    for (const fn of ['new', 'newer']) await announcing.submit('SUBMIT_JOB_BG', fn, '', '')
    // Messages come in order: with this job the consumer has all that was announced before it.
    const native = new Redis({ path: fleet.server.path, db: 2, protocol: 2 })
    await native.incr('uid:native')
    await native.hset('job:native:1', { status: 'idle', input: 'x' })
    await native.publish('channel:native', 'create:1')
    await native.lpush('queue:native:normal', '1')
    native.disconnect()
    for (let reply = await fetching; !reply.includes('native');) {
      reply = await consumer.ask('FETCH default')
    }
    const functions = functionsOf(await (await two.peer()).list('status'))
    expect(functions).toContain('native')
    expect(functions).not.toContain('new')
    expect(functions).not.toContain('newer')
  })

  test('do not notify clients of jobs that ended in the other', async () => {
    const { client, able, handle } = await running(two, 'fax')
    const id = idIn(handle)
    const publisher = fleet.redis
    for (const event of ['start', 'finish', 'finish']) {
      await publisher.publish('channel:fax', `${event}:${id}`)
    }
    await expect
      .poll(async () => (await two.peer()).ask('GET_STATUS', handle))
      .toEqual(['STATUS_RES', handle, '1', '1', '0', '0'])
    able.send('WORK_COMPLETE', handle, 'done')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
  })
})
