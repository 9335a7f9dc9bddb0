import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../faktory/support/fwp-client.ts'
import { ask, openRaw } from '../http/support/http-client.ts'
import { patience, sharedByTests, startShared } from './support/shared-gateway.ts'

const json = { 'Content-Type': 'application/json' }

describe.skipIf(lacksRedis)('a gateway of two processes', () => {
  const shared = sharedByTests(['--http-port', '0'])

  test('shares its connections out evenly, and is one gateway to who asks for its pid', async () => {
    const gateway = await shared()
    const peers = []
    for (let count = 0; count < 6; count += 1) peers.push(await gateway.gearman())
    const lists = await Promise.all(peers.map((peer) => peer.list('workers')))
    expect(lists.map((lines) => lines.length)).toEqual([3, 3, 3, 3, 3, 3])
    const pids = await Promise.all(peers.map((peer) => peer.command('getpid')))
    expect(new Set(pids)).toEqual(new Set([`OK ${gateway.pid}`]))
    const parts = await gateway.parts()
    expect(new Set(parts.map(({ node }) => node)).size).toBe(2)
    // The next ones go where fewest are.
    for (const peer of peers.slice(0, 3)) await peer.leave()
    await vi.waitFor(async () => {
      expect(await gateway.metric('crossgear_connections{door="gearman"}')).toBe(3)
    }, patience)
    for (let count = 0; count < 3; count += 1) peers.push(await gateway.gearman())
    const again = await Promise.all(peers.slice(3).map((peer) => peer.list('workers')))
    expect(again.map((lines) => lines.length)).toEqual([3, 3, 3, 3, 3, 3])
  })

  test('has a job of one process done by a worker of the other, and the result comes back', async () => {
    const gateway = await shared()
    const [worker, client] = [await gateway.gearman(), await gateway.gearman()]
    expect(await worker.list('workers')).toHaveLength(1)
    expect(await client.list('workers')).toHaveLength(1)
    worker.say('CAN_DO', 'reverse')
    await worker.sync()
    const handle = await client.submit('SUBMIT_JOB', 'reverse', '', 'abc')
    expect(await worker.ask('PRE_SLEEP')).toEqual(['NOOP'])
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'reverse', 'abc'])
    worker.say('WORK_COMPLETE', handle, 'cba')
    expect(await client.hear()).toEqual(['WORK_COMPLETE', handle, 'cba'])

    // By HTTP at both processes.
    for (const text of ['one', 'two']) {
      const answer = ask(gateway.portOf('http'), '/reverse', {}, text)
      const job = await vi.waitFor(async () => {
        const [name, handle = ''] = await worker.ask('GRAB_JOB')
        expect(name).toBe('JOB_ASSIGN')
        return handle
      }, patience)
      worker.say('WORK_COMPLETE', job, `${text}!`)
      expect((await answer).body.toString()).toBe(`${text}!`)
    }
  })

  test('knows a Faktory worker by all of its connections, wherever they are', async () => {
    const gateway = await shared()
    const port = gateway.portOf('faktory')
    const hello = { wid: 'worker-1', hostname: 'h', pid: 1, labels: [] }
    const one = await FwpClient.greeted(port, hello)
    const other = await FwpClient.greeted(port, hello)
    onTestFinished(() => [one, other].forEach((client) => client.close()))
    const busy = async () =>
      ((await (await gateway.page('/busy')).json()) as { workers: object[] }).workers

    await one.ask('PUSH {"jid":"job-00001","jobtype":"tick","args":[]}')
    expect(await one.askJson('FETCH default')).toMatchObject({ jid: 'job-00001' })
    expect(await busy()).toEqual([
      expect.objectContaining({ wid: 'worker-1', connections: 2, jobs: 1, state: 'running' }),
    ])
    expect(await other.ask('ACK {"jid":"job-00001"}')).toBe('+OK')
    await vi.waitFor(async () => {
      expect(await busy()).toEqual([expect.objectContaining({ connections: 2, jobs: 0 })])
    }, patience)

    await one.ask('BEAT {"wid":"worker-1","current_state":"quiet"}')
    await vi.waitFor(async () => {
      expect(await other.ask('BEAT {"wid":"worker-1"}')).toContain('{"state":"quiet"}')
    }, patience)
  })

  test('counts connections of an address over both, and warns once of the limit', async () => {
    const gateway = await startShared(['--max-connections-per-address', '3'])
    const taken = []
    for (let count = 0; count < 3; count += 1) taken.push(await gateway.gearman())
    const closed = async (): Promise<void> => {
      const socket = await openRaw(gateway.portOf('gearman'))
      await new Promise((resolve) => socket.once('close', resolve).resume())
    }
    // All reach the process with the fewest.
    for (let count = 0; count < 4; count += 1) await closed()
    const reason = 'crossgear_rejected_total{door="gearman",reason="address_connections"}'
    expect(await gateway.metric(reason)).toBe(4)
    const lines = await gateway.said(/A limit of the gearman port is reached/)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('(--max-connections-per-address). The first came from 127.0.0.1.')
    // Other doors count for themselves.
    const faktory = await FwpClient.greeted(gateway.portOf('faktory'))
    faktory.close()
    await taken[0]?.leave()
    await vi.waitFor(async () => {
      expect(await gateway.metric('crossgear_connections{door="gearman"}')).toBe(2)
    }, patience)
    await gateway.gearman()
  })

  test('counts wrong passwords and connections over both', async () => {
    const limits = ['--faktory-password-tries', '3', '--max-connections', '4']
    const gateway = await startShared(['--faktory-password', 'secret', ...limits])
    const port = gateway.portOf('faktory')
    const gearman = []
    for (let count = 0; count < 4; count += 1) gearman.push(await gateway.gearman())
    const fifth = await openRaw(gateway.portOf('gearman'))
    await new Promise((resolve) => fifth.once('close', resolve).resume())
    await gearman[0]?.leave()
    expect(
      await gateway.metric('crossgear_rejected_total{door="gearman",reason="connections"}'),
    ).toBe(1)
    await vi.waitFor(async () => {
      expect(await gateway.metric('crossgear_connections{door="gearman"}')).toBe(3)
    }, patience)
    await gateway.gearman()

    for (let count = 0; count < 3; count += 1) {
      const client = await FwpClient.connect(port)
      await client.reply()
      expect(await client.ask('HELLO {"v":2,"pwdhash":"00"}')).toBe('-ERR Invalid password')
      await client.closed()
    }
    await vi.waitFor(async () => {
      const clients = [await FwpClient.connect(port), await FwpClient.connect(port)]
      const replies = await Promise.all(clients.map((client) => client.reply()))
      for (const client of clients) client.close()
      expect(replies).toEqual(Array(2).fill(expect.stringContaining('too many wrong passwords')))
    }, patience)
  })

  test('shows the sum of their figures, and the pages of one gateway', async () => {
    const gateway = await shared()
    for (const peer of [await gateway.gearman(), await gateway.gearman()]) {
      await peer.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    }
    const figures = {
      'crossgear_jobs_submitted_total{function="mail",door="gearman"}': 2,
      'crossgear_connections{door="gearman"}': 2,
      'crossgear_jobs{function="mail",queue="default",state="waiting"}': 2,
      crossgear_store_up: 1,
      crossgear_processes: 2,
      crossgear_process_restarts_total: 0,
    }
    for (const [name, value] of Object.entries(figures)) {
      await gateway.figure(name, value)
    }
    const ready = await gateway.page('/readyz')
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }])

    const cron = { name: 'm', schedule: '@yearly', job: { type: 'tick', args: [] } }
    const path = { path: '/cron', headers: json }
    const web = gateway.portOf('web')
    expect((await ask(web, '/cron', path, JSON.stringify(cron))).status).toBe(201)
    expect((await ask(web, '/cron', path, 'x'.repeat(70_000))).body.toString()).toContain(
      'the body is over 65536 bytes',
    )
    expect(await (await gateway.page('/cron')).json()).toMatchObject({ cron: [{ name: 'm' }] })
    expect((await ask(web, '/cron?name=m', { method: 'DELETE' })).status).toBe(200)
  })

  test('says once that it is ready', async () => {
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
