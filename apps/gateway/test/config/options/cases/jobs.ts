import { expect } from 'vitest'
import type { RedisServer } from '@crossgear/tools/redis-server'
import type { GearmanPeer } from '../../../doors/gearman/support/gearman-peer.ts'
import type { Open } from '../composed-gateway.ts'
import type { Cases } from './case.ts'

/** Payloads that a worker of the functions is given, one after the other. */
async function grabAll(worker: GearmanPeer, count: number): Promise<string[]> {
  const payloads: string[] = []
  while (payloads.length < count) payloads.push((await worker.ask('GRAB_JOB')).at(-1) ?? '')
  return payloads
}

/** Options of the store and of jobs. */
export const jobCases = (open: Open, redis: () => RedisServer): Cases => ({
  redisUrl: async () => {
    const client = await (await open()).peer()
    await client.submit('SUBMIT_JOB_BG', 'seen', '', 'x')
    expect(await redis().ask('LLEN', 'queue:seen:normal')).toBe('1')
  },
  handlePrefix: async () => {
    const client = await (await open({ handlePrefix: 'mine' })).peer()
    expect(await client.submit('SUBMIT_JOB_BG', 'f', '', 'x')).toMatch(/^mine:\d+$/)
  },
  jobRetries: async () => {
    const lost = async (jobRetries: string): Promise<string | undefined> => {
      const gateway = await open({ jobRetries })
      const [client, worker, next] = [
        await gateway.peer(),
        await gateway.peer('f'),
        await gateway.peer('f'),
      ]
      await client.submit('SUBMIT_JOB', 'f', '', 'x')
      await worker.ask('GRAB_JOB')
      next.send('PRE_SLEEP')
      await next.sync()
      await worker.leave()
      return (await Promise.race([client.receive(), next.receive()]))[0]
    }
    expect([await lost('1'), await lost('0')]).toEqual(['WORK_FAIL', 'NOOP'])
  },
  faktoryDeadWorkerRequeue: async () => {
    const said = async (faktoryDeadWorkerRequeue: string): Promise<readonly string[]> => {
      const gateway = await open({ faktoryDeadWorkerRequeue })
      const worker = await gateway.consumer()
      await worker.pushAndFetch(`jid-of-${faktoryDeadWorkerRequeue}`)
      worker.close()
      const left = /left with unfinished jobs: (.*)/
      const lines = (): readonly string[] =>
        gateway.log.flatMap((line) => left.exec(line)?.[1] ?? [])
      await expect.poll(lines).toHaveLength(1)
      return lines()
    }
    expect([await said('gone'), await said('others')]).toEqual([
      ['unless it comes back within 60 s, others get them.'],
      ['they stay leased until reserve_for is over.'],
    ])
  },
  workerWakeup: async () => {
    const woken = async (workerWakeup: string): Promise<number> => {
      const gateway = await open({ workerWakeup })
      // The lane is known and watched before anybody sleeps: a look at a new one may wake more.
      const [early, client] = [await gateway.peer('w'), await gateway.peer()]
      await client.submit('SUBMIT_JOB_BG', 'w', '', 'first')
      const [, handle = ''] = await early.ask('GRAB_JOB')
      await early.send('WORK_COMPLETE', handle, '').sync()
      await early.leave()
      const sleepers = await Promise.all(Array.from({ length: 6 }, () => gateway.peer('w')))
      for (const sleeper of sleepers) await sleeper.send('PRE_SLEEP').sync()
      const heard = sleepers.map((sleeper) => sleeper.receive())
      await client.submit('SUBMIT_JOB_BG', 'w', '', 'x')
      const first = await Promise.race(heard.map((hears, at) => hears.then(() => at)))
      await sleepers[first]?.ask('GRAB_JOB')
      // Many more turns of the event loop than the wake-up of six takes.
      for (let turn = 0; turn < 100; turn += 1) await client.sync()
      for (const sleeper of sleepers) sleeper.send('ECHO_REQ', 'x')
      const names = (await Promise.all(heard)).map(([name]) => name)
      return names.filter((name) => name === 'NOOP').length
    }
    expect(await woken('0')).toBe(6)
    // A look at the lane before the first has asked may wake one more, now and then.
    const min = [await woken('1')]
    while (min.length < 4 && !min.includes(1)) min.push(await woken('1'))
    expect(Math.min(...min)).toBe(1)
  },
  roundRobin: async () => {
    const order = async (roundRobin: string): Promise<string[]> => {
      const gateway = await open({ roundRobin })
      const client = await gateway.peer()
      for (const fn of ['a', 'a', 'b', 'b']) await client.submit('SUBMIT_JOB_BG', fn, '', fn)
      return await grabAll(await gateway.peer('a', 'b'), 4)
    }
    expect(await order('no')).toEqual(['b', 'b', 'a', 'a'])
    expect(await order('yes')).toEqual(['b', 'a', 'b', 'a'])
  },
  gearmandVersion: async () => {
    const order = async (gearmandVersion: string): Promise<string[]> => {
      const gateway = await open({ gearmandVersion })
      const client = await gateway.peer()
      await client.submit('SUBMIT_JOB_LOW_BG', 'b', '', 'low')
      await client.submit('SUBMIT_JOB_HIGH_BG', 'a', '', 'high')
      return [await client.command('version'), ...(await grabAll(await gateway.peer('a', 'b'), 2))]
    }
    expect(await order('1.1')).toEqual(['OK 1.1.20', 'low', 'high'])
    expect(await order('2.0')).toEqual(['OK 2.0.0', 'high', 'low'])
  },
  exceptions: async () => {
    const heard = async (exceptions: string): Promise<string | undefined> => {
      const gateway = await open({ exceptions })
      const [client, worker] = [await gateway.peer(), await gateway.peer('e')]
      await client.submit('SUBMIT_JOB', 'e', '', 'x')
      const [, handle = ''] = await worker.ask('GRAB_JOB')
      worker.send('WORK_EXCEPTION', handle, 'oh')
      return (await client.receive())[0]
    }
    expect([await heard('no'), await heard('yes')]).toEqual(['WORK_FAIL', 'WORK_EXCEPTION'])
  },
})
