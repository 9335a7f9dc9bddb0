import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { storeServer } from './support/store-server.ts'
import { TroubledGateway } from './support/troubled-gateway.ts'

interface Trouble {
  begin(server: RedisServer): unknown
  end(server: RedisServer): unknown
}

const troubles: Readonly<Record<string, Trouble>> = {
  frozen: { begin: (server) => server.freeze(), end: (server) => server.thaw() },
  'killed and started again': { begin: (server) => server.kill(), end: (server) => server.start() },
  'a replica for a while': {
    begin: (server) => server.ask('REPLICAOF', '127.0.0.1', '1'),
    end: (server) => server.ask('REPLICAOF', 'NO', 'ONE'),
  },
}

/** A gateway on a durable store, a client of it, and a worker of `slow`. */
async function open() {
  const server = await storeServer('--appendonly', 'yes', '--appendfsync', 'always')
  const gateway = await TroubledGateway.open(server)
  return { server, gateway, client: await gateway.peer(), worker: await gateway.peer('slow') }
}

describe.skipIf(lacksRedis).each(Object.entries(troubles))(
  'with redis-server, while the store is %s,',
  (_how, trouble) => {
    /** Trouble of the store begins and ends, as the gateway knows. */
    async function pass({ server, gateway }: Awaited<ReturnType<typeof open>>): Promise<void> {
      await trouble.begin(server)
      await gateway.isTroubled()
      await trouble.end(server)
      await gateway.takesJobs()
    }

    test('a job keeps running, and its outcome is taken when the worker reports it afterwards', async () => {
      const opened = await open()
      const { client, worker } = opened
      const handle = await client.submit('SUBMIT_JOB', 'slow', '', '')
      expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'slow', ''])
      await pass(opened)
      worker.send('WORK_COMPLETE', handle, 'done')
      expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
    })

    test('an outcome reaches the client afterwards, though its worker has left', async () => {
      const { server, gateway, client, worker } = await open()
      const handle = await client.submit('SUBMIT_JOB', 'slow', '', '')
      await worker.ask('GRAB_JOB')
      await trouble.begin(server)
      await gateway.isTroubled()
      worker.send('WORK_COMPLETE', handle, 'done')
      expect(await worker.ask('ECHO_REQ', 'x')).toEqual(['ECHO_RES', 'x'])
      await worker.leave()
      await trouble.end(server)
      expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
    })

    test('a Faktory consumer ends its job afterwards', async () => {
      const { server, gateway } = await open()
      const fetched = await gateway.faktory.ask('FETCH default')
      const { jid } = JSON.parse(fetched.slice(fetched.indexOf('\n') + 1)) as { jid: string }
      await trouble.begin(server)
      const ack = `ACK ${JSON.stringify({ jid })}`
      expect(await gateway.faktory.ask(ack)).toMatch(/^-ERR the job store /)
      await trouble.end(server)
      await gateway.takesJobs()
      expect(await gateway.faktory.ask(ack)).toBe('+OK')
      const ended = async () => (await gateway.peer()).list('status')
      await expect.poll(ended).toContainEqual(expect.stringMatching(/^mail\t\d+\t0\t/))
    })

    test('an HTTP client that waits has its answer', async () => {
      const opened = await open()
      const { gateway, worker } = opened
      const answer = gateway.post('/slow')
      await worker.ask('PRE_SLEEP')
      const [assigned, handle = ''] = await worker.ask('GRAB_JOB')
      expect(assigned).toBe('JOB_ASSIGN')
      await pass(opened)
      worker.send('WORK_COMPLETE', handle, 'done')
      const { status, body } = await answer
      expect([status, body.toString()]).toEqual([200, 'done'])
    })

    test('a worker that sleeps is woken by the first job afterwards', async () => {
      const opened = await open()
      const { client, worker } = opened
      expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
      worker.send('PRE_SLEEP')
      await worker.sync()
      await pass(opened)
      await client.submit('SUBMIT_JOB_BG', 'slow', '', '')
      expect(await worker.receive()).toEqual(['NOOP'])
    })
  },
)
