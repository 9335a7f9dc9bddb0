import { describe, expect, test } from 'vitest'
import { lacks } from '@crossgear/tools/lacks'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { run } from '../../doors/stock/support/run-program.ts'
import { post, push, routedGateways } from './support/routed-gateways.ts'

const full = ['ERROR', 'QUEUE_ERROR', 'Job queue is full']
const unattended = ['ERROR', 'QUEUE_ERROR', 'No worker is there for the function']

describe.skipIf(lacksRedis)('a route with max_waiting', () => {
  const { open } = routedGateways()
  const bounded = (jobs: number): string => `[routes.mail]\nmax_waiting = ${jobs}\n`

  test('refuses jobs at every door while so many wait, and says so to each client', async () => {
    const gateway = await open(bounded(2))
    const [client, producer] = [await gateway.peer(), await gateway.faktory({})]
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '1')
    expect(await push(producer, 'mail')).toBe('+OK')
    expect(await client.ask('SUBMIT_JOB_BG', 'mail', '', '3')).toEqual(full)
    expect(await client.ask('SUBMIT_JOB_HIGH', 'mail', '', '3')).toEqual(full)
    expect(await push(producer, 'mail')).toBe('-ERR the queue of this job type is full')
    const refused = await post(gateway, 'mail')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.text()).toBe('The queue of the function is full\n')
    const page = await gateway.metrics()
    for (const door of ['gearman', 'faktory', 'http']) {
      expect(page).toMatch(
        new RegExp(`crossgear_rejected_total\\{door="${door}",reason="queue_full"\\} [12]`),
      )
    }
    await client.submit('SUBMIT_JOB_BG', 'other', '', '')
  })

  test('takes jobs again when a worker has one, and those that are due later', async () => {
    const gateway = await open(bounded(1))
    const [client, worker] = [await gateway.peer(), await gateway.peer('mail')]
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '1')
    expect(await client.ask('SUBMIT_JOB_BG', 'mail', '', '2')).toEqual(full)
    await client.submit('SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', 'later')
    expect((await worker.nextJob()).input).toBe('1')
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '2')
  })

  test('is exact over gateways and over the queues of its function', async () => {
    const gateways = [await open(bounded(50)), await open(bounded(50))]
    const clients = await Promise.all(gateways.map((gateway) => gateway.peer()))
    // Both gateways know the lanes from here on.
    const names = ['mail', 'mail@bulk']
    for (const name of names) await clients[0]?.submit('SUBMIT_JOB_BG', name, '', '')
    for (const name of names)
      await expect.poll(() => clients[1]?.list('status')).toContain(`${name}\t1\t0\t0`)
    for (let n = 0; n < 100; n += 1) {
      for (const client of clients) client.send('SUBMIT_JOB_BG', names[n % 2] ?? '', '', '')
    }
    const answers = await Promise.all(clients.map((client) => client.receiveMany(100)))
    const created = answers.flat().filter(([name]) => name === 'JOB_CREATED')
    expect(created).toHaveLength(48)
  })

  test('never refuses jobs of a batch', async () => {
    const producer = await (await open(bounded(1))).faktory({})
    const callback = { jobtype: 'done', args: [], queue: 'default' }
    const reply = await producer.ask(`BATCH NEW ${JSON.stringify({ success: callback })}`)
    const custom = { bid: /^\$\d+\r\n([\w-]+)$/.exec(reply)?.[1] }
    for (let n = 0; n < 3; n += 1) expect(await push(producer, 'mail', { custom })).toBe('+OK')
    expect(await push(producer, 'mail')).toContain('-ERR')
  })
})

describe.skipIf(lacksRedis)('a route with without_workers', () => {
  const { open } = routedGateways()
  const refusing = '[routes.mail]\nwithout_workers = "refuse"\n'

  test('refuses jobs at every door while no worker is there, once it knows', async () => {
    const gateway = await open(refusing)
    const [client, producer] = [await gateway.peer(), await gateway.faktory({})]
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'just after the start')
    await expect.poll(() => client.ask('SUBMIT_JOB_BG', 'mail', '', ''), soon).toEqual(unattended)
    expect(await push(producer, 'mail')).toBe('-ERR no worker is there for this job type')
    const job = { jid: 'refused-1', jobtype: 'mail', args: [] }
    const errors = await producer.askJson(`PUSHB ${JSON.stringify([job])}`)
    expect(errors).toEqual({ 'refused-1': 'no worker is there for this job type' })
    const refused = await post(gateway, 'mail')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.text()).toBe('No worker is there for the function\n')
    const page = await gateway.metrics()
    for (const door of ['gearman', 'faktory', 'http'])
      expect(page).toContain(`crossgear_rejected_total{door="${door}",reason="no_workers"}`)
    await client.submit('SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', 'later')
    await client.submit('SUBMIT_JOB_BG', 'other', '', '')

    // A worker by name at another gateway, then a consumer that may take them.
    const other = await open(refusing)
    const worker = await other.peer('mail')
    await worker.sync()
    await expect
      .poll(async () => (await client.ask('SUBMIT_JOB_BG', 'mail', '', ''))[0], soon)
      .toBe('JOB_CREATED')
    await worker.leave()
    await expect.poll(() => client.ask('SUBMIT_JOB_BG', 'mail', '', ''), soon).toEqual(unattended)
    const consumer = await other.consumer({ labels: ['fn:mail'] })
    consumer.send('FETCH default')
    await expect.poll(() => push(producer, 'mail'), soon).toBe('+OK')
  })

  test.skipIf(lacks('gearman', '-H') || lacks('php', '-r', 'new GearmanClient();'))(
    'is told by stock clients to their programs',
    async () => {
      const gateway = await open(refusing)
      const client = await gateway.peer()
      await expect.poll(() => client.ask('SUBMIT_JOB_BG', 'mail', '', ''), soon).toEqual(unattended)
      const port = String(gateway.port('gearman'))
      const tool = await run('gearman', ['-h', '127.0.0.1', '-p', port, '-f', 'mail', '-b', 'x'])
      expect(tool.err).toContain('(GEARMAN_QUEUE_ERROR) QUEUE_ERROR:No worker is there')
      const program = `$c = new GearmanClient(); $c->addServer('127.0.0.1', ${port});
      @$c->doBackground('mail', 'x'); echo $c->returnCode(), ' ', $c->error();`
      const php = await run('php', ['-r', program])
      expect(php.out.toString()).toContain('QUEUE_ERROR')
    },
  )
})

describe.skipIf(lacksRedis)('the bounds of a function', () => {
  const { open } = routedGateways()

  test('are read by text command and API, with those of maxqueue', async () => {
    const gateway = await open(`
      [routes.mail]
      max_waiting = 7
      max_age = 60
      [routes.resize]
      without_workers = "refuse"
      [routes.plain]
      retries = 1
    `)
    const admin = await gateway.peer('mail', 'news', 'plain')
    await admin.sync()
    await admin.command('maxqueue mail 1 2 3')
    await admin.command('maxqueue news 5')
    // Functions that the worker has just named are registered meanwhile.
    await expect
      .poll(async () => (await admin.list('show maxqueue')).sort())
      .toEqual(['mail\t1\t2\t3\t7\t0', 'news\t5\t5\t5\t0\t0', 'resize\t0\t0\t0\t0\t1'])
    const limitsOf = async (fn: string): Promise<unknown> => {
      const input = { params: { function: fn }, query: {}, body: undefined }
      return ((await gateway.api.call('getFunction', input)).body as { limits: unknown }).limits
    }
    expect(await limitsOf('mail')).toEqual({
      high: 1,
      normal: 2,
      low: 3,
      max_waiting: 7,
      without_workers: 'accept',
      max_age_seconds: 60,
    })
    expect(await limitsOf('resize')).toMatchObject({ without_workers: 'refuse', high: 0 })
  })
})
