import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { figures } from '../../doors/faktory/support/figures.ts'
import { storeServer } from './support/store-server.ts'
import { TroubledGateway } from './support/troubled-gateway.ts'

const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
const job = (jid: string): string => `PUSH {"jid":"${jid}","jobtype":"keeps","args":[],"queue":"k"}`

describe.skipIf(lacksRedis)('what a Faktory worker says while the store is away', () => {
  test('is kept, stored when the store is back, and answered in its place', async () => {
    const server = await storeServer(...durable)
    const gateway = await TroubledGateway.open(server)
    const worker = gateway.faktory
    for (const jid of ['kept-job-1', 'kept-job-2', 'kept-job-3']) {
      expect(await worker.ask(job(jid))).toBe('+OK')
      expect(await worker.ask('FETCH k')).toContain(jid)
    }
    await server.kill()
    await gateway.isTroubled()
    const kept =
      '-ERR the job store cannot be reached: the gateway keeps it, and stores it when the store is back'
    expect(await worker.ask('ACK {"jid":"kept-job-1"}')).toBe(kept)
    expect(await worker.ask('FAIL {"jid":"kept-job-2","errtype":"Broken","message":"b"}')).toBe(
      kept,
    )
    expect(await worker.ask('ACK {"jid":"kept-job-3"}')).toBe(kept)
    const [late] = await Promise.all([
      // As the Ruby client does after an ACK that was refused.
      worker.ask('FAIL {"jid":"kept-job-3","errtype":"Refused","message":"r"}'),
      server.start(),
    ])
    expect(['+OK', kept]).toContain(late)
    await gateway.takesJobs()
    await expect.poll(() => figures(worker)).toMatchObject({ working: 0, retries: 1 })
    // As the Go client does until it reads +OK.
    expect(await worker.ask('FAIL {"jid":"kept-job-2","errtype":"Broken","message":"b"}')).toBe(
      '+OK',
    )
    expect(await figures(worker)).toMatchObject({ working: 0, retries: 1 })
    // A heartbeat without a kept outcome tells so.
    await expect
      .poll(() => gateway.logged.filter((line) => line.startsWith('Outcomes ')))
      .toEqual([
        expect.stringMatching(/^Outcomes are kept here while the store takes none/),
        'Outcomes that were kept are stored.',
      ])
  })
})
