import { randomBytes } from 'node:crypto'
import { samplePairs } from '@crossgear/tools/sample'
import { beforeAll, describe, expect, test } from 'vitest'
import { kitsNamed, present, type StockKit } from './kits.ts'
import type { Stage } from './stage.ts'
import { hex, unhex, type StockProcess } from './stock-process.ts'

/** All that a client heard about one job. */
interface Heard {
  readonly bytes: Buffer
  readonly warnings: readonly string[]
  /** Progress, each as a share of the whole. */
  readonly shares: readonly number[]
  /** The word of the last line: `complete`, `fail`, `exception`. */
  readonly end: string
}

function digest(lines: readonly string[]): Heard {
  const rows = lines.map((line) => line.split(' '))
  const of = (...words: string[]): string[][] => rows.filter(([word = '']) => words.includes(word))
  return {
    bytes: Buffer.concat(of('data', 'complete', 'exception').map(([, text = '']) => unhex(text))),
    warnings: of('warning').map(([, text = '']) => unhex(text).toString()),
    shares: of('status', 'share').map(([, done, whole = '1']) => Number(done) / Number(whole)),
    end: rows.at(-1)?.[0] ?? '',
  }
}

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
const talk = [
  `data ${hex('one')}`,
  `data ${hex('t\0o')}`,
  `warning ${hex('careful')}`,
  'status 1 4',
  `complete ${hex('end')}`,
]

/** Every client and every worker; at night every client with every worker. */
export function pairs(stage: Stage): void {
  const workers = new Map<StockKit, StockProcess>()
  const prefixOf = (kit: StockKit): string => `pairs-${kit.name}`

  beforeAll(async () => {
    for (const kit of present) workers.set(kit, await stage.lastingWorker(kit, prefixOf(kit)))
  })

  const all = samplePairs(present, present).map(([from, to]) => ({ from, to }))

  describe.each(all)('a client in $from.name, a worker in $to.name', ({ from, to }) => {
    const ask = (verb: string, name: string, data: Buffer | string, ...more: string[]) =>
      stage.client(from).ask(verb, `${prefixOf(to)}-${name}`, data, ...more)

    test.each(['do', 'high', 'low'])('%s: the result, byte for byte', async (verb) => {
      expect(digest(await ask(verb, 'echo', allBytes))).toMatchObject({
        bytes: allBytes,
        end: 'complete',
      })
    })

    if (!from.refusesEmpty) {
      test('a job without data', async () => {
        const heard = digest(await ask('do', 'echo', ''))
        expect(heard).toMatchObject({ bytes: Buffer.alloc(0), end: 'complete' })
      })
    }

    test('a large job', async () => {
      const data = randomBytes(Math.min(from.maxBytes, to.maxBytes))
      const { bytes, end } = digest(await ask('do', 'echo', data))
      expect(bytes.equals(data)).toBe(true)
      expect(end).toBe('complete')
    })

    test('data, a warning and progress', async () => {
      const lines = await ask('do', 'talk', 'x')
      if (!from.streams && !to.streams) expect(lines).toEqual(talk)
      expect(digest(lines)).toEqual({
        bytes: Buffer.from('onet\0oend'),
        warnings: ['careful'],
        shares: [0.25],
        end: 'complete',
      })
    })

    test('a failure', async () => {
      const heard = to.failsAs === undefined ? 'fail' : `exception ${hex(`${to.failsAs}failed`)}`
      expect(await ask('do', 'fail', 'x')).toEqual([heard])
    })

    test('an exception', async () => {
      const text = `${to.failsAs ?? ''}kaboom`
      expect(await ask('do', 'boom', 'x')).toEqual([`exception ${hex(text)}`])
      expect(digest(await ask('do', 'echo', 'on')).bytes.toString()).toBe('on')
    })

    test.each(['bg', 'bg-high', 'bg-low'])('%s: the payload, byte for byte', async (verb) => {
      const [created] = await ask(verb, 'note', allBytes, `u-${from.name}-${verb}`)
      expect(created).toMatch(/^created \S+$/)
      expect(await workers.get(to)?.waitForLine('got')).toBe(`got ${hex(allBytes)}`)
    })

    test(`${to.atOnce} jobs at once`, async () => {
      const lines = await ask('set', 'echo', 'x', String(to.atOnce))
      const results = lines.map((line) => unhex(line.split(' ')[1] ?? '-').toString())
      const expected = Array.from({ length: to.atOnce }, (_, i) => `x${i}`)
      expect(results.filter((text) => text !== '').sort()).toEqual(expected.sort())
      expect(lines.filter((line) => line.startsWith('complete'))).toHaveLength(to.atOnce)
    })
  })

  const naming = kitsNamed('c', 'php', 'perl')
  const hearing = kitsNamed('c', 'php', 'gearmanode', 'abraxas')
  test.each(samplePairs(naming, hearing).map(([from, to]) => ({ from, to })))(
    'a unique id goes from $from.name to $to.name',
    async ({ from, to }) => {
      const unique = `id-${from.name}-${to.name}`
      const lines = await stage.client(from).ask('same', `${prefixOf(to)}-unique`, 'x', '1', unique)
      expect(lines).toEqual([`complete ${hex(unique)}`])
    },
  )
}
