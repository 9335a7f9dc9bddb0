import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import type { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { storeServer } from './support/store-server.ts'
import { TroubledGateway } from './support/troubled-gateway.ts'

/** The server loses what came after its last SAVE. */
async function backToLastSave(server: RedisServer): Promise<void> {
  await server.kill()
  await server.start()
}

/** Hands in a background job of each function; returns the handles. */
async function handIn(client: GearmanPeer, ...functions: readonly string[]): Promise<string[]> {
  const handles: string[] = []
  for (const fn of functions) handles.push(await client.submit('SUBMIT_JOB_BG', fn, '', ''))
  return handles
}

/** Resolves when a consumer has got the job, which it may have to look for among others. */
async function isFetched({ faktory }: TroubledGateway, jid: string): Promise<void> {
  await vi.waitFor(async () => expect(await faktory.ask('FETCH default')).toContain(jid), soon)
}

describe.skipIf(lacksRedis)('after a restart with older data, a gateway', () => {
  test('gives no handle again, neither of a function that it knew nor of a lost one', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    const client = await gateway.peer()
    await server.ask('SAVE')
    const lost = await handIn(client, 'mail', 'mail', 'thumbs', 'thumbs')
    await backToLastSave(server)
    await gateway.takesJobs()
    const fresh = await handIn(client, 'mail', 'mail', 'sounds', 'sounds')
    expect(new Set([...lost, ...fresh]).size).toBe(8)
    for (const handle of lost) {
      expect(await client.ask('GET_STATUS', handle)).toEqual([
        'STATUS_RES',
        handle,
        '0',
        '0',
        '0',
        '0',
      ])
    }
    for (const handle of fresh) {
      expect(await client.ask('GET_STATUS', handle)).toContain('1')
    }
  })

  test('gives consumers what is pushed to a function that only the lost data had as theirs', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    const { faktory } = gateway
    // The function's by-name worker keeps the function from consumers until a producer pushes.
    await gateway.peer('video')
    const closed = () => server.ask('HGET', 'xg:lane:video', 'closed')
    await vi.waitFor(async () => expect(await closed()).toMatch(/^\d+$/), soon)
    await server.ask('SAVE')
    const push = (jid: string) =>
      faktory.ask(`PUSH ${JSON.stringify({ jid, jobtype: 'video', args: [], priority: 9 })}`)
    expect(await push('lost-1234')).toBe('+OK')
    await backToLastSave(server)
    await gateway.takesJobs()
    expect(await push('pushed-1234')).toBe('+OK')
    await isFetched(gateway, 'pushed-1234')
  })

  test('opens functions again without a further push, also after a FLUSHALL by hand', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    await gateway.peer('video')
    const push = { jid: 'pushed-1234', jobtype: 'video', args: [], priority: 9 }
    expect(await gateway.faktory.ask(`PUSH ${JSON.stringify(push)}`)).toBe('+OK')
    await server.ask('FLUSHALL')
    const open = () => server.ask('HGET', 'xg:lane:video', 'open')
    await vi.waitFor(async () => expect(await open()).toBe('1'), soon)
    await gateway.takesJobs()
  })
})
