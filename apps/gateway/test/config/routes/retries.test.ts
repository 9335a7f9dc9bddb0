import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import type { ComposedGateway } from '../options/composed-gateway.ts'
import type { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { push, routedGateways } from './support/routed-gateways.ts'

interface Listed {
  readonly state: string
  readonly function: string
  readonly due_at: string | null
  readonly failure: { readonly remaining?: number } | null
}

async function listed(gateway: ComposedGateway): Promise<readonly Listed[]> {
  const { body } = await gateway.api.call('listJobs', { params: {}, query: {}, body: undefined })
  return (body as { jobs: readonly Listed[] }).jobs
}

/** The wait before a run: no less and no more than this, milliseconds. */
interface Wait {
  readonly leastMs: number
  readonly mostMs: number
}

/** Fails the next job; returns how long it waits for its next run, or its state if it does not. */
async function failNext(
  gateway: ComposedGateway,
  worker: GearmanPeer,
  words?: string,
): Promise<Wait | string> {
  const { handle } = await worker.nextJob()
  const beforeMs = Date.now()
  if (words !== undefined) worker.send('WORK_EXCEPTION', handle, words)
  await worker.send('WORK_FAIL', handle).sync()
  const afterMs = Date.now()
  const [job] = (await listed(gateway)).filter(({ state }) => state !== 'done')
  if (!job) return 'gone'
  if (job.due_at === null) return job.state
  const dueMs = Date.parse(job.due_at)
  return { leastMs: dueMs - afterMs, mostMs: dueMs - beforeMs }
}

/** A due time has whole milliseconds. */
const about =
  (seconds: number) =>
  (wait: Wait | string): boolean =>
    typeof wait === 'object' &&
    wait.leastMs - 1 <= 1000 * seconds &&
    wait.mostMs + 1 >= 1000 * seconds

const rules = `
  [routes.mail]
  retries = 1
  backoff = 100
  [[routes.mail.when]]
  level = "high"
  retries = 5
  backoff = [300, 600]
  [[routes.mail.when]]
  path = "customer.plan"
  equals = "gold"
  retries = 10
  backoff = { exponential = 50, max = 1000 }
  [[routes.mail.when]]
  path = "0.plan"
  equals = 7
  backoff = { linear = 2000, max = 3000 }
`

describe.skipIf(lacksRedis)('a route', () => {
  const { open } = routedGateways()

  test.each<readonly [string, 'SUBMIT_JOB_BG' | 'SUBMIT_JOB_HIGH_BG', string, number]>([
    ['the route’s own words', 'SUBMIT_JOB_BG', 'no JSON', 100],
    ['the route’s own words without the path', 'SUBMIT_JOB_BG', '{"customer":null}', 100],
    ['the route’s own words for a broken payload', 'SUBMIT_JOB_BG', '{"customer":', 100],
    ['the first rule, by level', 'SUBMIT_JOB_HIGH_BG', '{"customer":{"plan":"gold"}}', 300],
    ['a rule by path', 'SUBMIT_JOB_BG', '{"customer":{"plan":"gold"}}', 50],
    ['the route’s own words for another value', 'SUBMIT_JOB_BG', '{"customer":{"plan":"x"}}', 100],
    ['a rule by place in a list', 'SUBMIT_JOB_BG', '[{"plan":7},1]', 2000],
    [
      'the route’s own words for a long payload',
      'SUBMIT_JOB_BG',
      `{"customer":{"plan":"gold"},"x":"${'x'.repeat(65_536)}"}`,
      100,
    ],
  ])('gives a Gearman client’s job retries by %s', async (_what, packet, payload, seconds) => {
    const gateway = await open(rules)
    const [client, worker] = [await gateway.peer(), await gateway.peer('mail')]
    await client.submit(packet, 'mail', '', payload)
    expect(await failNext(gateway, worker)).toSatisfy(about(seconds))
  })

  test('gives a Faktory producer’s job the same, unless it has its own retries', async () => {
    const gateway = await open(rules)
    const [producer, worker] = [await gateway.faktory({}), await gateway.peer('mail')]
    const args = [{ customer: { plan: 'gold' } }]
    expect(await push(producer, 'mail', { args })).toBe('+OK')
    expect(await failNext(gateway, worker)).toSatisfy(about(50))
    await producer.ask('FLUSH')
    expect(await push(producer, 'mail', { args, retry: -1 })).toBe('+OK')
    expect(await failNext(gateway, worker)).toBe('dead')
  })

  test('gives as many retries as its rule says, at the times that it says', async () => {
    const gateway = await open(`
      [routes.mail]
      backoff = 0
      [[routes.mail.when]]
      level = 8
      retries = 2
    `)
    const [client, worker] = [await gateway.peer(), await gateway.peer('mail')]
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    expect(await failNext(gateway, worker)).toBe('dead')
    await (await gateway.faktory({})).ask('MUTATE {"cmd":"clear","target":"dead"}')
    await client.submit('SUBMIT_JOB_HIGH_BG', 'mail', '', 'x')
    for (let run = 0; run < 2; run += 1)
      expect(await failNext(gateway, worker)).toEqual(expect.anything())
    expect(await failNext(gateway, worker)).toBe('dead')
  })

  test('obeys retry-after of an exception only if it says so, for at most a day', async () => {
    const gateway = await open(`
      [routes.mail]
      retries = 3
      backoff = 100
      obey_retry_after = true
      [routes.post]
      retries = 3
      backoff = 100
    `)
    const client = await gateway.peer()
    const [mailer, poster] = [await gateway.peer('mail'), await gateway.peer('post')]
    const producer = await gateway.faktory({})
    const failed = async (fn: string, words: string): Promise<Wait | string> => {
      await producer.ask('FLUSH')
      await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
      return failNext(gateway, fn === 'mail' ? mailer : poster, words)
    }
    expect(await failed('mail', 'retry-after: 500\nbusy')).toSatisfy(about(500))
    expect(await failed('mail', 'Retry-After:700')).toSatisfy(about(700))
    expect(await failed('mail', 'retry-after: 999999999')).toSatisfy(about(86_400))
    expect(await failed('mail', 'busy, retry-after: 500')).toSatisfy(about(100))
    expect(await failed('post', 'retry-after: 500')).toSatisfy(about(100))
  })

  test('gives the job of a by-name worker to another after its timeout', async () => {
    const gateway = await open('[routes.mail]\ntimeout = 1\n')
    const client = await gateway.peer()
    const [late, other] = [await gateway.peer('mail'), await gateway.peer('mail')]
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const { handle } = await late.nextJob()
    late.send('PRE_SLEEP')
    expect(await other.nextJob()).toEqual({ handle, input: 'x' })
    late.send('WORK_COMPLETE', handle, 'late')
    await expect.poll(() => late.receive()).toEqual(['ERROR', 'JOB_NOT_FOUND', expect.anything()])
  })

  test('gives the job of a Faktory worker to another after the timeout of its rule', async () => {
    const gateway = await open(`
      [[routes.mail.when]]
      path = "slow"
      equals = false
      timeout = 1
    `)
    const client = await gateway.peer()
    const [late, other] = [await gateway.consumer(), await gateway.consumer({ wid: 'w2' })]
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '{"slow":false}')
    const first = await late.askJson('FETCH default')
    const again = (): Promise<string> => other.ask('FETCH default')
    await expect.poll(again).toContain(String(first['jid']))
  })
})
