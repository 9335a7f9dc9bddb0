import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lacking } from '@crossgear/tools/lacks'
import { Queue as BullQueue } from 'bullmq'
import { Queue as ResqueQueue } from 'node-resque'
import { GearMonkeyClient } from '@crossgear/gearmonkey-redis'
import { RedisStore } from '@crossgear/redis-store'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Gearmand, lacksGearmand } from '@crossgear/tools/gearmand'
import { lacksMemcached, Memcached } from './support/memcached.ts'
import { MigrateCommands } from './support/migrate-commands.ts'
import { lacksSidekiq, withSidekiq } from './support/sidekiq.ts'

const page = readFileSync(new URL('../../../docs/migrate/migration.md', import.meta.url), 'utf8')
const hourMs = 3_600_000

interface Printed {
  readonly command: string
  readonly output: string
}

/** The commands of a section's first block and what the page shows of their output. */
function printedIn(section: string): readonly Printed[] {
  const text = page.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? ''
  const block = /\n```\n(\$ [\s\S]*?)\n```/.exec(text)?.[1] ?? ''
  return block
    .split(/^\$ /m)
    .filter((part) => part.startsWith('crossgear migrate '))
    .map((part) => {
      const [first = '', ...rest] = part.trimEnd().split('\n')
      return { command: first.replace('crossgear migrate ', ''), output: rest.join('\n') }
    })
}

/** Times, jids and the speed of the machine differ from run to run. */
function comparable(output: string): string {
  return output
    .split('\n')
    .filter((line) => !/^\d+ read, \d+ stored \(/.test(line))
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b([0-9a-f]{16}) {2}\1$/gm, 'SAME')
    .replaceAll(/\d+\.\d s to read/g, 'N s to read')
}

/** Systems as their sections find them; what in the commands stands for their addresses. */
const sections: Readonly<
  Record<
    string,
    { lacks?: Lacking; fill: (source: RedisServer, folder: string) => Promise<Filled> }
  >
> = {
  'gearmand: SQLite': {
    lacks: lacksGearmand,
    fill: async (_source, folder) => {
      const path = join(folder, 'queue.sqlite')
      const gearmand = await Gearmand.start('-q', 'libsqlite3', '--libsqlite3-db', path)
      const job = (fn: string, data: string) => ({
        fn,
        unique: `of-${fn}`,
        data: Buffer.from(data),
      })
      await gearmand.submit([job('low', ''), job('mail', 'abc'), job('mail-x', 'x')])
      await gearmand.stop()
      return { shown: '/var/lib/gearman/queue.sqlite', real: path }
    },
  },
  'gearmand: memcached': {
    lacks: lacksGearmand || lacksMemcached,
    fill: async () => {
      const server = await Memcached.start()
      const where = ['--libmemcached-servers', `127.0.0.1:${server.port}`]
      const gearmand = await Gearmand.start('-q', 'libmemcached', ...where)
      const job = (fn: string, unique: string, data: string) => ({
        fn,
        unique,
        data: Buffer.from(data),
      })
      await gearmand.submit([
        job('mail', 'u1', 'four'),
        job('mail', 'u2', 'fives'),
        job('empty', 'u1', ''),
      ])
      await gearmand.stop()
      const real = `127.0.0.1:${server.port}`
      return { shown: '127.0.0.1:11211', real, stop: () => server.stop() }
    },
  },
  Sidekiq: {
    lacks: lacksSidekiq,
    fill: async (source) => {
      await withSidekiq(
        source.url,
        `3.times { |at| Sidekiq::Client.push("class" => "MailJob", "args" => [at]) }
        Sidekiq::Client.push("class" => "ReportJob", "args" => [1], "queue" => "bulk")
        Sidekiq::Client.push("class" => "ReportJob", "args" => [2], "at" => Time.now.to_f + 3600)`,
      )
      return redisOf(source)
    },
  },
  Resque: {
    fill: async (source) => {
      const connection = { host: '127.0.0.1', port: source.port, database: 0 }
      const queue = new ResqueQueue({ connection })
      await queue.connect()
      for (const at of [1, 2, 3]) await queue.enqueue('default', 'MailJob', [at])
      await queue.enqueue('bulk', 'ReportJob', [1])
      await queue.enqueueAt(Date.now() + hourMs, 'default', 'ReportJob', [2])
      await queue.end()
      return redisOf(source)
    },
  },
  BullMQ: {
    fill: async (source) => {
      const queue = new BullQueue('mail', { connection: { port: source.port } })
      for (const at of [1, 2, 3]) await queue.add('welcome', { to: at })
      await queue.add('newsletter', { n: 1 }, { priority: 2 })
      await queue.add('reminder', { n: 2 }, { delay: hourMs })
      await queue.close()
      return redisOf(source)
    },
  },
  'Another GearMonkey store': {
    fill: async (source) => {
      const store = new RedisStore({ path: source.path })
      await store.open()
      const job = { door: 'gearman', foreground: false, level: 5 } as const
      await store.lanes.register('report')
      const dueAtMs = Date.now() + hourMs
      await store.steps.submit('report', [{ ...job, input: Buffer.from('r1'), dueAtMs }])
      await store.close()
      const client = new GearMonkeyClient(source.url)
      for (const input of ['m1', 'm2']) await client.run('mail', input)
      client.close()
      return redisOf(source)
    },
  },
}

interface Filled {
  /** As the page names it. */
  readonly shown: string
  readonly real: string
  readonly stop?: () => Promise<void>
}

function redisOf(source: RedisServer): Filled {
  return { shown: '127.0.0.1:6380', real: `127.0.0.1:${source.port}` }
}

describe.skipIf(lacksRedis)('needs redis-server: docs/migrate/migration.md', () => {
  let folder: string
  let source: RedisServer
  let target: RedisServer
  let commands: MigrateCommands

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'xg-docs-'))
    commands = new MigrateCommands()
    ;[source, target] = await Promise.all([RedisServer.start(), RedisServer.start()])
  })
  afterAll(async () => {
    await Promise.all([source.stop(), target.stop(), commands.stop()])
    rmSync(folder, { recursive: true })
  })
  afterEach(() => Promise.all([source, target].map((server) => server.ask('FLUSHALL'))))

  for (const [name, { lacks = false, fill }] of Object.entries(sections)) {
    test.skipIf(lacks)(`the commands under "${name}" print the output shown there`, async () => {
      const printed = printedIn(name)
      expect(printed.length).toBeGreaterThan(1)
      const { shown, real, stop } = await fill(source, folder)
      try {
        for (const { command, output } of printed) {
          const words = command
            .replaceAll(shown, real)
            .replaceAll('127.0.0.1:6379', `127.0.0.1:${target.port}`)
            .split(' ')
          const { code, out } = await commands.run(words)
          expect(code).toBe(0)
          expect(`$ ${command}\n${comparable(out)}`).toBe(`$ ${command}\n${comparable(output)}`)
        }
      } finally {
        await stop?.()
      }
    })
  }
})
