import { expect, onTestFinished, test } from 'vitest'
import { describeFaktory, type FaktoryGateway } from '../support/faktory-gateway.ts'
import { figures, nothing } from '../support/figures.ts'

describeFaktory('ACK', (gateways) => {
  test('is harmless the second time, and for an unknown job', async () => {
    const worker = await gateways.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    for (const jid of ['12345678', '12345678', 'unknown-1', '', 'xg-1-0001', 'xg-zzz-1']) {
      expect(await worker.ask(`ACK {"jid":"${jid}"}`)).toBe('+OK')
    }
    expect(await figures(worker)).toMatchObject({ processed: 1 })
  })

  test('is accepted at any node', async () => {
    const here = await gateways.open()
    const there = await gateways.open()
    const worker = await here.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    expect(await (await there.client()).ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(worker)).toMatchObject({ working: 0, processed: 1 })
  })

  test('is accepted at the node of an earlier run that was settled at another', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const one = await here.client({ wid: 'worker-1' })
    const two = await there.client({ wid: 'worker-1' })
    await one.pushAndFetch('12345678')
    const heard = new Promise((resolve) => {
      onTestFinished(here.scheduler.queues.onConsumerNews((_wid, news) => resolve(news)))
    })
    expect(await two.ask('FAIL {"jid":"12345678"}')).toBe('+OK')
    expect(await heard).toEqual({ settled: '12345678' })
    expect(here.door.workers.find('worker-1')?.held.size).toBe(0)
    await two.ask('MUTATE {"cmd":"requeue","target":"retries"}')
    await two.ask('FETCH')
    expect(await one.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(one)).toEqual({ ...nothing, processed: 2, failures: 1 })
  })

  test('of a lost lease ends the job once, however often it comes', async () => {
    const { client, scheduler } = await gateways.open()
    const late = await client({ wid: 'worker-1' })
    const next = await client({ wid: 'worker-2' })
    await late.pushAndFetch('12345678')
    await takeBack(scheduler, '12345678')
    await next.ask('FETCH')
    expect(await late.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await late.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await late.ask('FAIL {"jid":"12345678"}')).toBe('-ERR Job not found 12345678')
    expect(await figures(late)).toMatchObject({ working: 0, processed: 1 })
    expect(await next.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(late)).toMatchObject({ working: 0, processed: 1 })
  })

  test('counts once for a worker that got the job a second time', async () => {
    const { client, scheduler } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    await takeBack(scheduler, '12345678')
    await worker.ask('FETCH')
    expect(await worker.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(worker)).toEqual({ ...nothing, processed: 1, failures: 0 })
  })
})

describeFaktory('FAIL', (gateways) => {
  test.each([
    [2, 2],
    [0, 5],
    [undefined, 5],
  ])('keeps as many lines as a backtrace of %j asks for', async (backtrace, kept) => {
    const worker = await gateways.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678', { backtrace })
    const lines = ['1', '2', '3', '4', '5']
    await worker.ask(`FAIL ${JSON.stringify({ jid: '12345678', backtrace: lines })}`)
    await makeDue('t', 1)
    const { failure } = await worker.askJson('FETCH')
    expect(failure).toMatchObject({ backtrace: lines.slice(0, kept) })
  })

  test('counts on from the failure that a job was pushed with', async () => {
    const { client, scheduler } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    const failure = { retry_count: 1, failed_at: '2020-02-03T04:05:06Z', message: 'old' }
    await worker.push('12345678', { retry: 3, failure })
    expect((await worker.askJson('FETCH'))['failure']).toEqual(failure)
    await worker.ask('FAIL {"jid":"12345678","message":"new"}')
    await makeDue('t', 1)
    const again = await worker.askJson('FETCH')
    const nextAt: unknown = again['failure']?.['next_at']
    expect(again['failure']).toMatchObject({
      retry_count: 2,
      remaining: 1,
      failed_at: failure.failed_at,
      message: 'new',
    })
    await worker.ask('FAIL {"jid":"12345678","message":"last"}')
    const [counts] = await scheduler.jobs.counts()
    expect(counts).toMatchObject({ dead: 1, scheduled: 0 })
    await worker.ask('MUTATE {"cmd":"requeue","target":"dead"}')
    expect((await worker.askJson('FETCH'))['failure']).toMatchObject({
      retry_count: 3,
      remaining: 0,
      message: 'last',
      next_at: nextAt,
    })
  })

  test('ends a Gearman job, which has no retries, and tells its client', async () => {
    const gateway = await gateways.open()
    const { jid, heard } = await gearmanJob(gateway, 'mail', 'payload')
    const worker = await gateway.client({ wid: 'worker-1' })
    await worker.ask('FETCH')
    await worker.ask(`FAIL {"jid":"${jid}","message":"no such address"}`)
    expect(await heard).toEqual({ kind: 'exception', message: Buffer.from('no such address') })
  })

  /** As if the time of a scheduled job's next try had come. */
  async function makeDue(lane: string, id: number): Promise<void> {
    await gateways.redis('ZADD', `queue:${lane}:scheduled`, '0', String(id))
    await gateways.redis('ZADD', 'xg:due', '0', lane)
  }
})

describeFaktory('a job of another door', (gateways) => {
  test.each([
    ['text', 'hello', ['hello'], undefined],
    ['a JSON array', '[1,"two"]', [1, 'two'], undefined],
    ['a JSON object', '{"a":1}', [{ a: 1 }], undefined],
    ['nothing', '', [''], undefined],
    ['bytes that are no text', Buffer.from([0xff, 0x00]), ['/wA='], { encoding: 'base64' }],
  ])('with %s is shown as a Faktory job', async (_name, input, args, custom) => {
    const gateway = await gateways.open()
    const { jid } = await gearmanJob(gateway, 'mail', input)
    const worker = await gateway.client({ wid: 'worker-1' })
    const job = await worker.askJson('FETCH')
    expect(job).toMatchObject({
      jid,
      jobtype: 'mail',
      queue: 'default',
      args,
      retry: 0,
      priority: 8,
    })
    expect(job['custom']).toEqual(custom)
    expect(job['created_at']).toBe(job['enqueued_at'])
  })

  test.each([
    ['a text', ',"result":"done"', 'done'],
    ['any other JSON', ',"result":{"b":1.0}', '{"b":1.0}'],
    ['nothing', '', ''],
    ['null', ',"result":null', ''],
  ])('that is acknowledged with %s has it as its output', async (_name, result, output) => {
    const gateway = await gateways.open()
    const { jid, heard } = await gearmanJob(gateway, 'mail', 'payload')
    const worker = await gateway.client({ wid: 'worker-1' })
    await worker.ask('FETCH')
    expect(await worker.ask(`ACK {"jid":"${jid}"${result}}`)).toBe('+OK')
    expect(await heard).toEqual({ kind: 'complete', output: Buffer.from(output) })
  })

  test('can be acknowledged at a node that did not hand it out', async () => {
    const here = await gateways.open()
    const there = await gateways.open()
    const { jid, heard } = await gearmanJob(here, 'mail', 'payload')
    const worker = await here.client({ wid: 'worker-1' })
    await worker.ask('FETCH')
    expect(await (await there.client()).ask(`ACK {"jid":"${jid}","result":"x"}`)).toBe('+OK')
    expect(await heard).toEqual({ kind: 'complete', output: Buffer.from('x') })
  })
})

/** Submits a job as the Gearman door does; the jid it is shown under, and the last its client hears. */
async function gearmanJob(
  { scheduler }: FaktoryGateway,
  lane: string,
  input: string | Buffer,
): Promise<{ readonly jid: string; readonly heard: Promise<unknown> }> {
  let hear: (event: unknown) => void
  const heard = new Promise((resolve) => (hear = resolve))
  const id = await new Promise<number>((resolve, reject) => {
    scheduler.submit(lane, {
      job: { input: Buffer.from(input), door: 'gearman', level: 8, foreground: true },
      waiter: { onEvent: (_ref, event) => hear(event) },
      gone: false,
      submitted: (result) => ('id' in result ? resolve(result.id) : reject(new Error(result.kind))),
      refused: reject,
    })
  })
  const number = scheduler.registry.numberOf(lane) ?? 0
  return { jid: `xg-${number.toString(36)}-${String(id).padStart(3, '0')}`, heard }
}

/** The lease ends without a word of its worker. */
async function takeBack(scheduler: FaktoryGateway['scheduler'], jid: string): Promise<void> {
  const job = await scheduler.jobs.findJid(jid)
  const assignment = job && scheduler.lookupLease(job)
  if (!assignment) throw new Error(`nobody holds ${jid}`)
  await new Promise<void>((resolve, reject) => {
    scheduler.release(assignment, true, { settled: () => resolve(), refused: reject })
  })
}
