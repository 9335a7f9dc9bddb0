import type { Lacking } from '@crossgear/tools/lacks'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunOptions } from '../../src/acts/options.ts'
import { run } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import { verifyMoved } from '../../src/acts/verify.ts'
import { openSource } from '../../src/sources/open-source.ts'
import type { Reject } from '../../src/record/record.ts'
import type { Source } from '../../src/source.ts'
import { type Taken, TestTarget } from './target.ts'

/** A queue of another system. */
export interface QueueFixture {
  readonly address: string
  /** Makes it hold the jobs of the contract, and nothing else. */
  refill(): unknown
  /** The jobs of the source and their places, to be compared. */
  contents?(): unknown
  /** Looks at the target after a copy. */
  arrived?(rejects: readonly Reject[]): unknown
  /** Looks at the queue after a move. */
  emptied?(): unknown
  /** Looks at the queue after a rollback. `before`: its contents before the move. It has the same. */
  restored?(before: unknown): unknown
  stop(): unknown
}

export interface SourceContract<Fixture extends QueueFixture> {
  /** The programs that it needs, and the source. */
  readonly name: string
  readonly lacking?: Lacking
  /** Jobs that arrive. */
  readonly jobs: number
  /** Jobs that are rejected. 0. */
  readonly rejected?: number
  readonly batch: number
  /** True where a scan finds its jobs: they are not counted before, and pages may be larger. False. */
  readonly isScanned?: boolean
  /** False where a stopped copy starts again from its beginning. True. */
  readonly isResumed?: boolean
  readonly start: (target: TestTarget) => Promise<Fixture>
}

interface Move extends Omit<Partial<RunOptions>, 'isMove'> {
  /** Instead of the fixture's address. */
  readonly from?: string
  readonly functions?: readonly string[]
  readonly stopAfter?: number
}

/** The queue, for tests of its source alone. */
export interface TestQueue<Fixture extends QueueFixture> {
  readonly fixture: Fixture
  readonly target: TestTarget
  /** Opens it once nobody else has it open: a server counts connections for a moment after their end. */
  readonly open: (isMove?: boolean) => Promise<Source>
  readonly openNow: (isMove?: boolean) => Promise<Source>
  /** Why it must not be read now. */
  readonly liveReason: () => Promise<string | undefined>
  readonly move: (isMove: boolean, options?: Move) => Promise<Taken>
  /** A move that is killed when its first page has left the source. */
  readonly moveAndDie: () => Promise<void>
}

/** The name of a migration. */
export const migration = 'm'

/** Tests of any source, and `others` of this one. */
export function sourceContract<Fixture extends QueueFixture>(
  {
    name,
    lacking = false,
    jobs,
    rejected = 0,
    batch,
    isResumed = true,
    isScanned = false,
    start,
  }: SourceContract<Fixture>,
  others: (queue: TestQueue<Fixture>) => void,
): void {
  describe.skipIf(lacking || lacksRedis)(name, () => {
    let [target, fixture] = [] as unknown as [TestTarget, Fixture]
    beforeAll(async () => {
      target = await TestTarget.open()
      fixture = await start(target)
    })
    afterAll(async () => {
      await Promise.all([fixture.stop(), target.close()])
    })
    beforeEach(async () => {
      await fixture.refill()
    })
    afterEach(async () => {
      expect(await target.violations()).toEqual([])
      await target.clear()
    })

    const openAt = (from: string, isMove: boolean, functions: readonly string[] = []) =>
      // Not every user sees the programs of others; those of the test are seen all the same.
      openSource(from, { isMove, isStopped: true, functions })
    const openNow = (isMove = false) => openAt(fixture.address, isMove)
    const liveReason = async (): Promise<string | undefined> => {
      const source = await openNow()
      await source.close()
      return source.liveReason
    }
    const open = async (isMove = false): Promise<Source> => {
      await expect.poll(liveReason).toBeUndefined()
      return openNow(isMove)
    }
    const move = async (isMove: boolean, options: Move = {}): Promise<Taken> => {
      const { from = fixture.address, functions, ...others } = options
      await expect.poll(liveReason).toBeUndefined()
      const source = await openAt(from, isMove, functions)
      return target.take(source, { name: migration, isStopped: true, batch, ...others, isMove })
    }

    const moveAndDie = async (): Promise<void> => {
      const killed = target.as(migration)
      killed.moved = () => Promise.reject(new Error('killed'))
      const source = await open(true)
      const parts = { source, target: killed, ledger: killed, selection: new Selection() }
      const options = { name: migration, isMove: true, isStopped: true, batch }
      await expect(run({ ...parts, options })).rejects.toThrow('killed')
      await source.close()
    }

    test('a copy brings every job once, as verify proves, and further copies bring none', async () => {
      const { counts, rejects } = await move(false)
      expect(counts).toMatchObject({ read: jobs + rejected, created: jobs, rejected })
      await fixture.arrived?.(rejects)
      const verified = await target.verify(await open(), migration)
      expect(verified).toMatchObject({ rejected, isEqual: rejected === 0 })
      expect(verified.rows.reduce((sum, { equal }) => sum + equal, 0)).toBe(jobs)
      expect((await move(false)).counts).toMatchObject({ created: 0, known: jobs })
      const another = await move(false, { name: 'another' })
      expect(another.counts).toMatchObject({ created: 0, known: jobs })
    })

    test.each([...(isResumed ? [['a copy', false] as const] : []), ['a move', true] as const])(
      '%s that is stopped after each page brings every job once',
      async (_name, isMove) => {
        // A move reads rejected jobs again each time.
        const maxPages = rejected === 0 ? Math.ceil(jobs / batch) + 2 : jobs + 2
        let created = 0
        for (let pages = 0; ; pages += 1) {
          const { counts, isStopped } = await move(isMove, { stopAfter: batch })
          created += counts.created
          // The last job of a page may be read twice, and three more pages are on their way when a copy stops.
          if (!isScanned) expect(counts.read).toBeLessThanOrEqual(4 * batch)
          if (!isStopped) break
          expect(pages).toBeLessThan(maxPages)
        }
        expect(created).toBe(jobs)
      },
    )

    test('a move takes all away, and a rollback that was killed behind each step restores all', async () => {
      const before = await fixture.contents?.()
      expect((await move(true)).counts).toMatchObject({ created: jobs, removed: jobs })
      const { store, names } = target
      const parts = { imports: store.imports, names, options: { name: migration } }
      expect(await verifyMoved(parts)).toMatchObject({ isEqual: true })
      await fixture.emptied?.()
      const source = await open(true)
      if (!isScanned) expect(await source.total?.()).toBe(rejected)
      const restore = source.restore?.bind(source)
      source.restore = async (records) => {
        await restore?.(records)
        await restore?.(records)
      }
      const undone = await target.rollBack(source, migration)
      expect(undone).toMatchObject({ undone: jobs, restored: jobs, begun: 0 })
      if (fixture.restored) await fixture.restored(before)
      else expect(await fixture.contents?.()).toEqual(before)
    })

    test('the same jobs, moved, put back and moved again, are not lost', async () => {
      for (let time = 0; time < 2; time += 1) {
        expect((await move(true)).counts).toMatchObject({ created: jobs, removed: jobs })
        const { restored } = await target.rollBack(await open(true), migration)
        expect(restored).toBe(jobs)
      }
    })

    others({
      open,
      openNow,
      liveReason,
      move,
      moveAndDie,
      get fixture() {
        return fixture
      },
      get target() {
        return target
      },
    })
  })
}

/** Expects one clear line that says why an address cannot be opened, and no password in it. */
export async function expectRefusal(address: string, code: string, line: string): Promise<void> {
  const opening = openSource(address, { isMove: false, functions: [] })
  await expect(opening).rejects.toMatchObject({
    code,
    message: expect.stringContaining(line) as string,
  })
  await expect(opening).rejects.not.toThrow('wrong')
}
