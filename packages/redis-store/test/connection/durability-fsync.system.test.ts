import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewJob } from '@crossgear/core-scheduler'
import { buildLossyDisk, lacksCompiler } from '@crossgear/tools/preload-library'
import { lacksValkey, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RedisStore } from '../../src/index.ts'

const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false }
const valkey = { program: 'valkey-server' } as const
const aof = ['--appendonly', 'yes', '--appendfsync']

async function open(server: RedisServer, level: 'fsync' | 'store' = 'fsync'): Promise<RedisStore> {
  const store = new RedisStore({ path: server.path }, { durability: { level } })
  await store.open()
  return store
}

describe.skipIf(lacksValkey)('the disk that confirms, with valkey-server:', () => {
  let server: RedisServer
  let store: RedisStore

  beforeEach(async () => {
    server = await RedisServer.startAs(valkey, ...aof, 'everysec')
    store = await open(server)
  })
  afterEach(async () => {
    await store.close()
    await server.stop()
  })

  async function questions(): Promise<number> {
    const stats = await server.ask('INFO', 'commandstats')
    return Number(/cmdstat_waitaof:calls=(\d+)/.exec(stats)?.[1] ?? 0)
  }

  test.each(['everysec', 'always'])('appendfsync %s confirms', async (fsync) => {
    await server.ask('CONFIG', 'SET', 'appendfsync', fsync)
    await store.steps.submit('mail', [job])
    await store.confirm?.()
  })

  test('a disk that is not asked confirms nothing, and confirms when it is asked', async () => {
    await server.ask('CONFIG', 'SET', 'appendfsync', 'no')
    await store.steps.submit('mail', [job])
    const refusal = { code: 'UNCONFIRMED', message: 'not on disk within 2000 ms' }
    await expect(store.confirm?.()).rejects.toMatchObject(refusal)
    await server.ask('CONFIG', 'SET', 'appendfsync', 'everysec')
    await store.steps.submit('mail', [job])
    await store.confirm?.()
  })

  test('a server whose append-only file is turned off confirms nothing, in its words', async () => {
    await server.ask('CONFIG', 'SET', 'appendonly', 'no')
    await store.steps.submit('mail', [job])
    const refusal = {
      code: 'UNCONFIRMED',
      message: expect.stringContaining('appendonly') as string,
    }
    await expect(store.confirm?.()).rejects.toMatchObject(refusal)
  })

  test('one question serves all answers that wait for the disk', async () => {
    const lanes = Array.from({ length: 50 }, (_none, at) => `lane${at}`)
    await Promise.all(
      lanes.map(async (lane) => {
        await store.steps.submit(lane, [job, job])
        await store.confirm?.()
      }),
    )
    // The answers may come in a few pieces.
    expect(await questions()).toBeLessThan(10)
  })
})

describe.skipIf(lacksValkey || lacksCompiler)(
  'a machine that loses its power, with valkey-server and a C compiler:',
  () => {
    let folder: string
    let preload: string

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'xg-disk-'))
      preload = buildLossyDisk(folder)
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    test('has all confirmed writes, and has lost the others', async () => {
      const server = await RedisServer.startAs({ ...valkey, preload }, ...aof, 'always')
      const store = await open(server)
      try {
        const [safe] = await store.steps.submit('mail', [job])
        await store.confirm?.()
        await server.ask('CONFIG', 'SET', 'appendfsync', 'no')
        const [unsafe] = await store.steps.submit('mail', [job])
        await server.kill()
        await server.start()
        expect([safe, unsafe]).toMatchObject([{ id: 1 }, { id: 2 }])
        expect(await server.ask('LRANGE', 'queue:mail:normal', '0', '-1')).toBe('1')
      } finally {
        await store.close()
        await server.stop()
      }
    })
  },
)
