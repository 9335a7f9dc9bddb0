import { RedisServer } from '@crossgear/tools/redis-server'
import { expect, test } from 'vitest'
import { migration, sourceContract } from '../support/source-contract.ts'
import { lacksSidekiq, withSidekiq } from '../support/sidekiq.ts'
import type { TestTarget } from '../support/target.ts'

const later = 2_000_000_000

/** Sidekiq's own client, retry and dead set write these. */
const writing = `
  client = Sidekiq::Client.new
  30.times do |at|
    args = at == 4 ? [12345678901234567890, "ü\\n", nil, { "b" => 1.50, "a" => [] }] : [at]
    client.push("class" => at % 3 == 0 ? "Mail::Send" : "Report", "args" => args,
      "queue" => at % 2 == 0 ? "default" : "bulk", "jid" => "%024x" % at)
  end
  client.push("class" => "Mail::Send", "args" => ["later"], "at" => ${later}.25, "jid" => "later-later-later", "tags" => ["x"])
  class Report
    include Sidekiq::Worker
  end
  def fail_with(retries, jid)
    job = { "class" => "Report", "args" => [jid], "retry" => retries, "queue" => "default", "jid" => jid, "created_at" => 1_700_000_000.5 }
    Sidekiq::JobRetry.new.local(Report.new, Sidekiq.dump_json(job), "default") { raise IOError, "no route" }
  rescue Sidekiq::JobRetry::Handled
  end
  fail_with(7, "failed-once")
  fail_with(0, "failed-for-good")
`

const reading = `
  queues = Sidekiq::Queue.all.map { |queue| [queue.name, queue.map { |job| [job.jid, job.klass, job.args] }] }.to_h
  sets = [Sidekiq::ScheduledSet, Sidekiq::RetrySet, Sidekiq::DeadSet].map { |set| set.new.map { |job| [(job.score * 1000).round, job.item] } }
  puts JSON.dump({ queues: queues, sets: sets })
`

const byText = (one: unknown, other: unknown): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1

async function start(target: TestTarget) {
  const server = await RedisServer.start()
  await withSidekiq(`${server.url}/1`, writing)
  return {
    server,
    address: `sidekiq+redis://127.0.0.1:${server.port}/2`,
    async refill() {
      const redis = server.connect({ db: 1 })
      await redis.call('SWAPDB', '1', '2')
      await redis.flushdb()
      for (const key of await redis.select(2).then(() => redis.keys('*'))) {
        await redis.copy(key, key, 'DB', 1)
      }
      redis.disconnect()
    },
    /** As Sidekiq reads it. */
    async contents() {
      const text = await withSidekiq(`${server.url}/2`, reading)
      const { queues, sets } = JSON.parse(text) as Record<string, Record<string, unknown[]>>
      // Two members of a set may be of one millisecond, which is all that is kept of their times.
      for (const some of [queues, sets]) {
        for (const members of Object.values(some ?? {})) members.sort(byText)
      }
      return { queues, sets }
    },
    async arrived() {
      expect(
        await target.store.lanes.counts(['Mail::Send', 'Mail::Send@bulk', 'Report', 'Report@bulk']),
      ).toMatchObject([
        { normal: 5, scheduled: 1 },
        { normal: 5 },
        { normal: 10, retrying: 1, dead: 1 },
        { normal: 10 },
      ])
      const [mail, report] = [await target.jobs('Mail::Send'), await target.jobs('Report')]
      const find = (jid: string) => [...mail, ...report].find(({ job }) => job.jid === jid)
      expect(find('000000000000000000000004')?.job.input.toString()).toBe(
        '[12345678901234567890,"ü\\n",null,{"b":1.5,"a":[]}]',
      )
      expect(find('later-later-later')).toMatchObject({
        dueAtMs: later * 1000 + 250,
        job: {
          retries: 25,
          door: 'faktory',
          envelope: expect.stringContaining('"tags":["x"]') as string,
        },
      })
      const failed = find('failed-once')
      expect(failed?.job.retries).toBe(7)
      expect(JSON.parse(failed?.job.failure ?? '')).toMatchObject({
        retry_count: 0,
        remaining: 7,
        message: 'no route',
        errtype: 'IOError',
      })
      expect(JSON.parse(failed?.job.envelope ?? '')).toMatchObject({
        created_at: '2023-11-14T22:13:20.5Z',
        custom: { sidekiq: { class: 'Report', created_at: 1_700_000_000.5, retry: 7 } },
      })
      expect(find('failed-for-good')?.job.retries).toBe(-1)
    },
    async emptied() {
      const redis = server.connect({ db: 2 })
      expect(await redis.keys('*')).toEqual(['queues'])
      redis.disconnect()
    },
    stop: () => server.stop(),
  }
}

sourceContract(
  {
    name: 'needs ruby-sidekiq and redis-server: what Sidekiq wrote',
    lacking: lacksSidekiq,
    jobs: 33,
    batch: 7,
    start,
  },
  (queue) => {
    test('consumers get the jobs of a queue in their old order', async () => {
      await queue.move(false)
      const jobs = await queue.target.consumed('bulk', ['Mail::Send@bulk', 'Report@bulk'])
      const order = Array.from({ length: 15 }, (_none, at) => 2 * at + 1)
      expect(jobs.map(({ jid }) => jid)).toEqual(
        order.map((at) => at.toString(16).padStart(24, '0')),
      )
    })

    // Built by hand: Sidekiq writes none of these.
    test('invalid jobs are counted, reported and left, and all others are moved', async () => {
      const redis = queue.fixture.server.connect({ db: 2 })
      await redis.lpush('queue:default', 'no json', '{"args":[]}', '{"class":"A","args":{}}')
      redis.disconnect()
      const { counts, rejects } = await queue.move(true)
      expect(counts).toMatchObject({ created: 33, rejected: 3, removed: 33 })
      expect(rejects.map(({ reason, where, raw }) => [reason, where, raw.toString()])).toEqual([
        ['bad_job', 'queue:default', 'no json'],
        ['bad_job', 'queue:default', '{"args":[]}'],
        ['bad_job', 'queue:default', '{"class":"A","args":{}}'],
      ])
    })

    test('after a rollback Sidekiq has the classes of a queue in their order, behind the jobs that stayed', async () => {
      const { server } = queue.fixture
      const names = ['A1', 'B2', 'A3', 'B4', 'A5']
      const redis = server.connect({ db: 2 })
      await redis.flushdb()
      await withSidekiq(
        `${server.url}/2`,
        `%w[${names.join(' ')}].each { |name| Sidekiq::Client.push("class" => name[0], "args" => [name], "queue" => "mixed") }`,
      )
      // Sidekiq itself writes no such member.
      await redis.rpush('queue:mixed', 'no json')
      redis.disconnect()
      // Pages of two jobs: the order holds over their bounds, too.
      const { counts } = await queue.move(true, { batch: 2 })
      expect(counts).toMatchObject({ created: 5, removed: 5, rejected: 1 })
      const undone = await queue.target.rollBack(await queue.open(true), migration)
      expect(undone).toMatchObject({
        restored: 5,
        rejected: 1,
        left: [{ where: 'queue:mixed', message: expect.stringContaining('no job') as string }],
      })
      const oldestFirst = server.connect({ db: 2 })
      const members = (await oldestFirst.lrange('queue:mixed', 0, '-1')).toReversed()
      expect(members.shift()).toBe('no json')
      const args = members.map((text) => (JSON.parse(text) as { args: string[] }).args[0])
      expect(args).toEqual(names)
      await oldestFirst.lrem('queue:mixed', 1, 'no json')
      oldestFirst.disconnect()
      const script = 'puts Sidekiq::Queue.new("mixed").map { |job| job.args[0] }.reverse.join(" ")'
      expect((await withSidekiq(`${server.url}/2`, script)).trim()).toBe(names.join(' '))
    })

    // Built by hand, as the gem redis-namespace and Sidekiq 8 write it.
    test('a namespace and times in milliseconds are read', async () => {
      const redis = queue.fixture.server.connect({ db: 2 })
      await redis.sadd('app:queues', 'q1')
      const times = '"created_at":1700000000500,"enqueued_at":1700000000600'
      await redis.lpush('app:queue:q1', `{"class":"A","args":[],"retry":false,${times}}`)
      redis.disconnect()
      expect(
        (await queue.move(false, { from: `${queue.fixture.address}?namespace=app` })).counts,
      ).toMatchObject({ created: 1 })
      const [found] = await queue.target.jobs('A@q1')
      expect(found?.job).toMatchObject({ retries: 0, input: Buffer.from('[]') })
      expect(found?.job.jid).toMatch(/^sidekiq-[0-9a-f]{32}$/)
      expect(found?.job.envelope).toContain('"created_at":"2023-11-14T22:13:20.5Z"')
    })

    test('a Redis that Sidekiq uses is reported', async () => {
      const redis = queue.fixture.server.connect({ db: 2 })
      await redis.ping()
      expect(await queue.liveReason()).toContain('1 other connection')
      redis.disconnect()
    })
  },
)
