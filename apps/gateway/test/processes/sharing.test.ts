import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../faktory/support/fwp-client.ts'
import { ask, openRaw } from '../http/support/http-client.ts'
import { isAlive, patience, sharedByTests, startShared } from './support/shared-gateway.ts'

const json = { 'Content-Type': 'application/json', Authorization: 'Bearer sesame' }

describe.skipIf(lacksRedis)('a gateway of two processes', () => {
  const shared = sharedByTests(['--http-port', '0', '--web-password', 'sesame'])

  test('distributes its connections, and answers one pid at all of them', async () => {
    const gateway = await shared()
    const peers = await Promise.all(Array.from({ length: 40 }, () => gateway.gearman()))
    const pids = await Promise.all(peers.map((peer) => peer.command('getpid')))
    expect(new Set(pids)).toEqual(new Set([`OK ${gateway.pid}`]))
    for (const peer of peers) await peer.leave()
    await gateway.both()
    expect(new Set((await gateway.parts()).map(({ node }) => node)).size).toBe(2)
  })

  test('has a job of one process done by a worker of the other, and the result comes back', async () => {
    const gateway = await shared()
    const [worker, client] = await gateway.both()
    worker.send('CAN_DO', 'reverse')
    await worker.sync()
    const handle = await client.submit('SUBMIT_JOB', 'reverse', '', 'abc')
    expect(await worker.ask('PRE_SLEEP')).toEqual(['NOOP'])
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'reverse', 'abc'])
    worker.send('WORK_COMPLETE', handle, 'cba')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'cba'])

    // By HTTP at either of them.
    for (const text of ['one', 'two']) {
      const answer = ask(gateway.portOf('http'), '/reverse', {}, text)
      const job = await vi.waitFor(async () => {
        const [name, handle = ''] = await worker.ask('GRAB_JOB')
        expect(name).toBe('JOB_ASSIGN')
        return handle
      }, patience)
      worker.send('WORK_COMPLETE', job, `${text}!`)
      expect((await answer).body.toString()).toBe(`${text}!`)
    }
  })

  test('sends the quiet order to all connections of a Faktory worker, in every process', async () => {
    const gateway = await shared()
    const port = gateway.portOf('faktory')
    const hello = { wid: 'worker-1', hostname: 'h', pid: 1, labels: [] }
    const clients: FwpClient[] = []
    onTestFinished(() => clients.forEach((client) => client.close()))
    const workers = async (): Promise<{ jobs: number }[]> => {
      const pages = gateway.webPorts.map(async (web) => {
        const answer: unknown = await (await gateway.page('/busy', web)).json()
        return (answer as { workers: { jobs: number }[] }).workers
      })
      return (await Promise.all(pages)).flat()
    }
    // Until both processes know it.
    while ((await workers()).length < 2) clients.push(await FwpClient.greeted(port, hello))
    const [one, other] = [clients[0]!, clients.at(-1)!]
    await one.ask('PUSH {"jid":"job-00001","jobtype":"tick","args":[]}')
    expect(await one.askJson('FETCH default')).toMatchObject({ jid: 'job-00001' })
    expect(await other.ask('ACK {"jid":"job-00001"}')).toBe('+OK')
    await vi.waitFor(async () => {
      expect((await workers()).map(({ jobs }) => jobs)).toEqual([0, 0])
    }, patience)

    await one.ask('BEAT {"wid":"worker-1","current_state":"quiet"}')
    await vi.waitFor(async () => {
      expect(await other.ask('BEAT {"wid":"worker-1"}')).toContain('{"state":"quiet"}')
    }, patience)
  })

  test('has the limits of a gateway in each of them', async () => {
    const gateway = await startShared(['--max-connections-per-address', '1'])
    const reason = 'crossgear_rejected_total{door="gearman",reason="address_connections"}'
    // Each takes one, and refuses more.
    await vi.waitFor(async () => {
      ;(await openRaw(gateway.portOf('gearman'))).on('error', () => undefined)
      expect(await gateway.metric(reason)).toBeGreaterThan(0)
      expect(await gateway.metric('crossgear_connections{door="gearman"}')).toBe(2)
    }, patience)
  })

  test('shows the figures of each process at its own web port, and reloads all from any', async () => {
    const gateway = await shared()
    for (const peer of await gateway.both()) await peer.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const submitted = 'crossgear_jobs_submitted_total{function="mail",door="gearman"} 1'
    const waiting = 'crossgear_jobs{function="mail",queue="default",state="waiting"} 2'
    for (const port of gateway.webPorts) {
      expect((await gateway.page('/readyz', port)).status).toBe(200)
      await vi.waitFor(async () => {
        const lines = (await (await gateway.page('/metrics', port)).text()).split('\n')
        expect(lines).toEqual(expect.arrayContaining([submitted, waiting]))
      }, patience)
    }
    const [, second = 0] = gateway.webPorts
    const answer = await ask(second, '/reload', { path: '/api/v1/reload', headers: json }, '{}')
    expect(answer.status).toBe(200)
    await gateway.said(/"process":2,.*"Reload \(/)
    await gateway.said(/"process":1,.*"Reload \(SIGHUP\)/)
  })

  test('end together when one of them gets the text command shutdown', async () => {
    const gateway = await startShared()
    expect(await (await gateway.gearman()).command('shutdown graceful')).toBe('OK')
    expect((await gateway.exited).code).toBe(0)
    for (const { pid } of await gateway.parts()) expect(isAlive(pid)).toBe(false)
  })

  test('logs once that it is ready', async () => {
    const gateway = await startShared()
    const [line = ''] = await gateway.said(/"Ready\."/)
    expect(JSON.parse(line)).toMatchObject({ processes: 2 })
    gateway.child.kill('SIGTERM')
    const { code, stdout } = await gateway.exited
    expect(code).toBe(0)
    expect(stdout.match(/"Ready\."/g)).toHaveLength(1)
    expect(stdout.match(/"Stopped\."/g)).toHaveLength(1)
  })
})
