import type { SchedulerOptions } from '@crossgear/core-scheduler'
import { FwpError } from '@crossgear/fwp-codec'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { faktoryGateways } from '../faktory/support/faktory-gateway.ts'
import { gearmanGateways } from '../gearman/support/gearman-gateway.ts'
import { openRaw } from '../http/support/http-client.ts'
import { openHttp } from '../http/support/http-gateway.ts'

/** Rules that fail where a job's failure is ruled on: in the handler, after it has reserved its reply. */
const broken = {
  ofFailure: () => {
    throw new TypeError('a mistake')
  },
  lateReport: { message: 'late' },
  ofLosses: () => '{}',
}

/** Notes the errors of connections that a door ended. */
function recorded(): {
  readonly dropped: (reason: string, error?: unknown) => void
  said: string[]
} {
  const said: string[] = []
  return { said, dropped: (reason, error) => void said.push(`${reason}: ${String(error)}`) }
}

describe.skipIf(lacksRedis)('needs redis-server: a handler that throws', () => {
  const gearman = gearmanGateways()
  const faktory = faktoryGateways()

  /** Two connections of a Faktory worker whose job, `mail----`, cannot fail; the first one has it. */
  async function failing(retryRules: SchedulerOptions['retryRules'] = broken) {
    const { dropped, said } = recorded()
    const gateway = await faktory.open({ dropped, schedulerOptions: { retryRules } })
    const wid = { wid: 'worker-1' }
    const [one, other] = [await gateway.client(wid), await gateway.client(wid)]
    const job = await one.pushAndFetch('mail----', { jobtype: 'mail', args: [1] })
    expect(job).toMatchObject({ jobtype: 'mail' })
    return { said, one, other }
  }
  const fail = 'FAIL {"jid":"mail----","message":"no","errtype":"E"}'

  test('ends its Gearman connection at once, and the jobs held there are handed to another worker', async () => {
    const { dropped, said } = recorded()
    const gateway = await gearman.open({ dropped, schedulerOptions: { retryRules: broken } })
    const client = await gateway.peer()
    const handle = await client.submit('SUBMIT_JOB', 'mail', '', 'theirs')
    const failing = await client.submit('SUBMIT_JOB_BG', 'mail', '', 'failing')
    const worker = await gateway.worker('mail')
    for (let jobs = 0; jobs < 2; jobs += 1) await worker.ask('GRAB_JOB')
    worker.send('WORK_EXCEPTION', failing, 'no')
    await worker.ended()
    const other = await gateway.worker('mail')
    expect(await other.ask('PRE_SLEEP')).toEqual(['NOOP'])
    expect((await other.ask('GRAB_JOB'))[3]).toBe('theirs')
    other.send('WORK_COMPLETE', handle, 'done')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
    expect(said).toEqual(['error: TypeError: a mistake'])
  })

  test('ends its Faktory connection at once, and the worker goes on with another', async () => {
    const { said, one, other } = await failing()
    one.send(fail)
    expect(await one.closed()).toBe('')
    expect(await other.ask('ACK {"jid":"mail----"}')).toBe('+OK')
    expect(said).toEqual(['error: TypeError: a mistake'])
  })

  test('with an error for its client, after it has reserved its reply, ends the connection all the same', async () => {
    const ofFailure = () => {
      throw new FwpError('INVALID_JSON', 'no text for a client')
    }
    const { said, one } = await failing({ ...broken, ofFailure })
    one.send(fail, 'INFO')
    expect(await one.closed()).toBe('')
    expect(said).toEqual(['error: Error: no text for a client'])
  })

  test('in a command behind one that waited ends the connection, and not the gateway', async () => {
    const { said, one, other } = await failing()
    one.send('TRACK GET mail----', fail)
    await one.closed()
    expect(await other.ask('ACK {"jid":"mail----"}')).toBe('+OK')
    expect(said).toEqual(['error: TypeError: a mistake'])
  })

  test('ends its HTTP connection at once, and not the gateway', async () => {
    const { dropped, said } = recorded()
    const failing = new Proxy(Object.create(null) as object, {
      get: () => {
        throw new TypeError('a mistake')
      },
    })
    const { port, scheduler, worker } = await openHttp({ dropped })
    const submit = scheduler.submit.bind(scheduler)
    scheduler.submit = (lane, submission, ready) =>
      submit(lane, lane === 'failing' ? (failing as typeof submission) : submission, ready)
    const raw = await openRaw(port)
    let heard = ''
    raw.on('data', (bytes: Buffer) => (heard += bytes.toString()))
    const ended = new Promise((resolve) => raw.once('close', resolve))
    raw.write('POST /failing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx')
    await ended
    expect(heard).toBe('')
    expect(said).toEqual(['error: TypeError: a mistake'])
    await (await worker('mail')).sync()
  })
})

describe.skipIf(lacksRedis)('needs redis-server: a job that cannot be handed out', () => {
  const gearman = gearmanGateways()

  test('ends the connection that asked, and goes to another; those of the same call are handed out', async () => {
    const { dropped, said } = recorded()
    const gateway = await gearman.open({ dropped })
    const client = await gateway.peer()
    for (const data of ['1', '2', '3']) await client.submit('SUBMIT_JOB_BG', 'mail', '', data)
    const { leases } = gateway.scheduler
    const start = leases.start.bind(leases)
    leases.start = (leased, leaseMs, sinceMs) => {
      if (leaseMs === 70_000) throw new TypeError('a mistake')
      start(leased, leaseMs, sinceMs)
    }
    const [failing, other] = [await gateway.peer(), await gateway.worker('mail')]
    failing.send('CAN_DO_TIMEOUT', 'mail', '70000').send('GRAB_JOB')
    await failing.ended()
    const taken = new Set<string | undefined>()
    for (let jobs = 0; jobs < 3; jobs += 1) taken.add((await other.ask('GRAB_JOB'))[3])
    expect([...taken].sort()).toEqual(['1', '2', '3'])
    expect(said).toEqual(['error: TypeError: a mistake'])
  })
})
