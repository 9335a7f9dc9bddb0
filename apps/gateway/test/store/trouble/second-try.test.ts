import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { storeServer } from './support/store-server.ts'
import { TroubledGateway } from './support/troubled-gateway.ts'

const mayRun = /the job may be stored, and run, all the same/

const pushed = {
  jid: 'tried-again-1',
  jobtype: 'again',
  args: [1],
  created_at: '2026-01-01T00:00:00Z',
}

/** Hands in a job under a name that a second try has too; what the door says. */
const doors: readonly [name: string, handIn: (gateway: TroubledGateway) => Promise<string>][] = [
  ['Faktory, by the jid', ({ faktory }) => faktory.ask(`PUSH ${JSON.stringify(pushed)}`)],
  [
    'Faktory, by the jid in a list',
    ({ faktory }) => faktory.ask(`PUSHB ${JSON.stringify([pushed])}`),
  ],
  [
    'Gearman, by the unique id',
    async (gateway) => {
      const client = await gateway.peer()
      return (await client.ask('SUBMIT_JOB_BG', 'again', 'unique-1', '')).join(' ')
    },
  ],
  [
    'HTTP, by the unique id',
    async (gateway) => {
      const headers = { 'X-Gearman-Background': 'true', 'X-Gearman-Unique': 'unique-1' }
      return (await gateway.post('/again', headers)).body.toString()
    },
  ],
]

function waiting(server: RedisServer): Promise<string> {
  return server.ask('LLEN', 'queue:again:normal')
}

describe.skipIf(lacksRedis)('a job without an answer of the store', () => {
  test.each(doors)(
    'may be stored, as the error says, and is not stored twice: %s',
    async (_name, handIn) => {
      const server = await storeServer()
      const gateway = await TroubledGateway.open(server)
      // The function is known, and open to consumers.
      await gateway.faktory.ask(`PUSH ${JSON.stringify({ ...pushed, jid: 'the-first-1' })}`)
      await server.ask('LPOP', 'queue:again:normal')
      server.freeze()
      expect(await handIn(gateway)).toMatch(mayRun)
      server.thaw()
      await vi.waitFor(async () => expect(await waiting(server)).toBe('1'), soon)
      await gateway.takesJobs()
      expect(await handIn(gateway)).not.toMatch(mayRun)
      expect(await waiting(server)).toBe('1')
    },
  )

  test('that was not sent is not said to be stored', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    await server.kill()
    await gateway.isTroubled()
    for (const [, handIn] of doors) expect(await handIn(gateway)).not.toMatch(mayRun)
  })
})
