import { idsOf } from '../contract/kit.ts'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { Redis } from 'ioredis'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { describe, expect, test } from 'vitest'
import { Packer, unpack } from '../../src/scripts/packed.ts'
import { RedisStore } from '../../src/index.ts'

const lua = readFileSync(new URL('../../lua/lib/step/packed.lua', import.meta.url), 'utf8')
/** Gives back what it is given, numbers as text. */
const echo = `local Packed = {}
${lua}
local list = Packed.unpackedArguments(ARGV, 1)
for at = 1, #list do
  if type(list[at]) == 'number' then list[at] = string.format('%.17g', list[at]) end
end
return list`

const bytes = fc.oneof(fc.uint8Array(), fc.uint8Array({ maxLength: 3000, size: 'max' }))
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3000, size: 'max' }),
  fc.string({ unit: 'grapheme' }),
)

const bytesOf = (value: string | number | Uint8Array): string =>
  (typeof value === 'object' ? Buffer.from(value) : Buffer.from(String(value))).toString('hex')
const hex = (list: readonly Buffer[]): string[] => list.map((value) => value.toString('hex'))

const packer = new Packer()

const digest = (value: Buffer): string =>
  `${value.length} ${createHash('sha1').update(value).digest('hex')}`

test('long values are packed outside a list, with their positions', () => {
  const long = Buffer.alloc(5000)
  const [, place, value, ...more] = new Packer().pack(['short', long, 1])
  expect([place, value, more]).toEqual([2, long, []])
})

test('packing another list does not change earlier ones', () => {
  const long = Array.from({ length: 500 }, (_one, at) => `${String(at)} ${'x'.repeat(900)}`)
  const packed = long.map((text) => packer.pack([text])[0])
  expect(packed.map((list) => String((unpack(list as Buffer) as Buffer[])[0]))).toEqual(long)
})

describe.skipIf(lacksRedis)('with redis-server,', () => {
  let server: RedisServer
  let redis: Redis
  withRedisServer((started) => {
    server = started
    redis = server.connect()
  })

  test('a list reaches a script unchanged', async () => {
    const value = fc.oneof(bytes, text, fc.maxSafeInteger(), fc.constant(0.5))
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 40 }), async (list) => {
        const got = (await redis.callBuffer('EVAL', echo, 0, ...packer.pack(list))) as Buffer[]
        expect(hex(got)).toEqual(list.map(bytesOf))
      }),
    )
  })

  test('values packed by a script come back unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { maxLength: 40 }), async (list) => {
        const args = list.map((value) => Buffer.from(value))
        const reply = await redis.callBuffer('EVAL', 'return cmsgpack.pack(ARGV)', 0, ...args)
        expect(hex(unpack(reply as Buffer) as Buffer[])).toEqual(list.map(bytesOf))
      }),
    )
  })

  test('jobs of any bytes and any length come back unchanged', async () => {
    const store = new RedisStore({ path: server.path })
    await store.open()
    await store.lanes.register('mail')
    const inputs = [0, 1, 31, 32, 1023, 1024, 70_000, 5, 3_000_000].map((size) =>
      Buffer.from(Uint8Array.from({ length: size }, (_byte, at) => at)),
    )
    const job = { door: 'gearman', level: 5, foreground: false, retentionSeconds: 60 } as const
    await store.steps.submit(
      'mail',
      inputs.map((input) => ({ ...job, input })),
    )
    const taken = await store.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 20 })
    expect(taken.map(({ input }) => digest(input))).toEqual(inputs.map(digest))

    const kind = 'complete' as const
    const outcomes = taken.map((held) => ({ ...held, kind, output: held.input }))
    expect(await store.steps.finish('mail', outcomes)).toEqual(inputs.map(() => 'done'))
    const ended = await store.jobs.read('mail', idsOf(taken))
    expect(ended.map((found) => found?.output && digest(found.output))).toEqual(inputs.map(digest))
    await store.close()
  })
})
