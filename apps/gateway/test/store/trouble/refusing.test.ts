import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { storeServer } from './support/store-server.ts'
import { TroubledGateway } from './support/troubled-gateway.ts'

/** Takes this password from now on, and ends the connections of those who have not given it. */
async function lock(server: RedisServer, old: string, password: string): Promise<void> {
  const admin = server.connect(old === '' ? {} : { password: old })
  await admin.config('SET', 'requirepass', password)
  await admin.auth(password)
  for (const type of ['normal', 'pubsub']) await admin.call('CLIENT', 'KILL', 'TYPE', type)
}

async function refusedPings(server: RedisServer): Promise<number> {
  const stats = await server.ask('INFO', 'commandstats')
  return Number(/cmdstat_ping:.*rejected_calls=(\d+)/.exec(stats)?.[1])
}

describe.skipIf(lacksRedis)('a store that refuses, with redis-server:', () => {
  test('a replica: every door answers with an error, and works again when it is a master', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    await server.ask('REPLICAOF', '127.0.0.1', '1')
    await gateway.refusesJobs(/^-ERR the job store refused: READONLY/, /^store REFUSED: READONLY/)
    await gateway.givesNoJobs()
    await server.ask('REPLICAOF', 'NO', 'ONE')
    await gateway.takesJobs()
    await gateway.runsJobs()
  })

  test('a replica: each refusal is counted once, at its door, whatever was asked for', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    const [worker, { faktory }] = [await gateway.peer('mail'), gateway]
    const [, handle = ''] = await worker.ask('GRAB_JOB')
    const fetched = await faktory.ask('FETCH default')
    const { jid } = JSON.parse(fetched.slice(fetched.indexOf('\n') + 1)) as { jid: string }
    const job = JSON.stringify({ jid: 'refused-1', jobtype: 'mail', args: [] })
    const acts: readonly (readonly [door: string, act: () => Promise<unknown>])[] = [
      ['gearman', () => worker.ask('SUBMIT_JOB_BG', 'mail', '', '')],
      ['gearman', () => worker.ask('GRAB_JOB')],
      [
        'gearman',
        () => {
          worker.send('WORK_COMPLETE', handle, '')
          return worker.sync()
        },
      ],
      ['faktory', () => faktory.ask(`PUSH ${job}`)],
      ['faktory', () => faktory.ask(`PUSHB [${job}]`)],
      ['faktory', () => faktory.ask('FETCH default')],
      ['faktory', () => faktory.ask(`ACK ${JSON.stringify({ jid })}`)],
      ['faktory', () => faktory.ask('QUEUE PAUSE default')],
      ['http', () => gateway.post('/mail')],
    ]
    await server.ask('REPLICAOF', '127.0.0.1', '1')
    const counted: (readonly [string, number])[] = []
    for (const [door, act] of acts) {
      const before = await gateway.refusals(door)
      await act()
      counted.push([door, (await gateway.refusals(door)) - before])
    }
    expect(counted).toEqual(acts.map(([door]) => [door, 1]))
    await server.ask('REPLICAOF', 'NO', 'ONE')
  })

  test('a full server: no door accepts a job, and existing jobs run to their end', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    await server.ask('CONFIG', 'SET', 'maxmemory', '1')
    await gateway.refusesJobs(/^-ERR the job store refused: OOM/, /^store REFUSED: OOM/)
    expect(await gateway.handIn()).toMatchObject({
      gearman: expect.stringMatching(/^QUEUE_ERROR the job store refused: OOM /) as string,
    })
    expect((await gateway.post('/mail')).body.toString()).toMatch(/^the job store refused: OOM /)
    expect(gateway.logged.filter((line) => line.includes('OOM'))).toEqual([
      expect.stringMatching(/^The store takes no writes \(OOM .*\): raise its maxmemory/),
    ])
    await gateway.runsJobs()
    await server.ask('CONFIG', 'SET', 'maxmemory', '0')
    await gateway.takesJobs()
  })

  test('a server whose memory is used up is not ready before a job was refused', async () => {
    const server = await storeServer('--maxmemory-policy', 'noeviction')
    const gateway = await TroubledGateway.open(server)
    const info = await server.ask('INFO', 'memory')
    const used = Number(/^used_memory:(\d+)/m.exec(info)?.[1])
    await server.ask('CONFIG', 'SET', 'maxmemory', String(used - 200_000))
    await gateway.isTroubled(/^store REFUSED: OOM /)
    await server.ask('CONFIG', 'SET', 'maxmemory', '0')
    await gateway.takesJobs()
  })

  test('a server that cannot write its files: the cause is in one line of the log and in /readyz, and no connection is lost', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'xg-full-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const server = await storeServer('--dir', folder, '--save', '900 1')
    const gateway = await TroubledGateway.open(server)
    rmSync(folder, { recursive: true })
    await server.ask('BGSAVE')
    await gateway.refusesJobs(/^-ERR the job store refused: MISCONF/, /^store REFUSED: MISCONF/)
    // The gateway asks by itself whether its connections live; the server refuses that as well.
    await vi.waitFor(async () => expect(await refusedPings(server)).toBeGreaterThan(3), soon)
    const told = gateway.logged.filter((line) =>
      /MISCONF|cannot be reached|answers again/.test(line),
    )
    expect(told).toEqual([
      expect.stringMatching(/^The store takes no writes \(MISCONF .*\): free space/),
    ])
    await server.ask('CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'no')
    await gateway.takesJobs()
    await gateway.runsJobs()
  })

  test('a server that has lost the scripts: no door notices', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    await server.ask('SCRIPT', 'FLUSH')
    await gateway.takesJobs()
    await server.ask('SCRIPT', 'FLUSH')
    await gateway.runsJobs()
  })

  test.each([
    ['a password where there was none', '', 'NOAUTH'],
    ['another password', 'old', 'WRONGPASS'],
  ])(
    '%s: every door answers with an error, and works again when it is undone',
    async (_what, old, word) => {
      const server = await storeServer('--requirepass', old)
      const login = old === '' ? '' : `:${old}@`
      const gateway = await TroubledGateway.open(server, `redis://${login}127.0.0.1:${server.port}`)
      await lock(server, old, 'new')
      const reason = new RegExp(`^store UNREACHABLE: .*${word}`)
      await gateway.refusesJobs(/^-ERR the job store cannot be reached/, reason)
      await gateway.givesNoJobs()
      const admin = server.connect({ password: 'new' })
      await admin.config('SET', 'requirepass', old)
      await gateway.takesJobs()
      await gateway.runsJobs()
    },
  )
})
