import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importIdOf } from '../src/record/identity.ts'
import type { JobName, JobRecord } from '../src/record/record.ts'
import { rejectOf } from '../src/record/fit.ts'
import type { Page, Source } from '../src/source.ts'
import { TestTarget } from './support/target.ts'

/** A Faktory job of a queue, named by its function and number. */
function jobOf(name: string): JobRecord {
  return {
    importId: importIdOf('a server', name),
    state: 'queued',
    door: 'faktory',
    fn: name.slice(0, 1),
    queue: 'one',
    level: 5,
    payload: Buffer.from(name),
    jid: `jid-of-${name}`,
  }
}

/** A server whose jobs are read in pages; keeps what is asked of it. */
class PagedSource implements Source {
  readonly identity = 'a server'
  readonly limits = []
  readonly isLive = true
  readonly pagesLeft: (readonly string[])[]
  readonly removed: string[] = []
  readonly finished: (string | undefined)[] = []
  readonly restored: string[] = []
  dies = false

  constructor(...pages: readonly (readonly string[])[]) {
    this.pagesLeft = [...pages]
  }

  async *pages(): AsyncGenerator<Page> {
    for (let page = this.pagesLeft.shift(); page; page = this.pagesLeft.shift()) {
      const [bad, good] = [
        page.filter((name) => name === 'bad'),
        page.filter((name) => name !== 'bad'),
      ]
      const rejects = bad.map(() => rejectOf('bad_job', 'q', 'no job', Buffer.alloc(0)))
      yield await Promise.resolve({ records: good.map(jobOf), rejects, cursor: '' })
    }
  }

  remove(records: readonly JobRecord[]): Promise<void> {
    if (this.dies) return Promise.reject(new Error('killed'))
    this.removed.push(...records.map(({ payload }) => payload.toString()))
    return Promise.resolve()
  }

  finish(names: readonly JobName[]): Promise<void> {
    this.finished.push(...names.map(({ jid }) => jid))
    return Promise.resolve()
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    this.restored.push(...records.map(({ payload }) => payload.toString()))
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

describe.skipIf(lacksRedis)('needs redis-server: a move and its way back', () => {
  let target: TestTarget
  beforeAll(async () => {
    target = await TestTarget.open()
  })
  afterAll(() => target.close())

  test('jobs of a queue go back in the order in which they came, whatever their functions', async () => {
    const names = ['A1', 'B2', 'A3', 'C4', 'B5', 'A6']
    await target.take(new PagedSource(names.slice(0, 4), names.slice(4)), {
      name: 'm',
      isMove: true,
    })
    const source = new PagedSource()
    const counts = await target.rollBack(source, 'm')
    expect(source.restored).toEqual(names)
    expect(counts).toMatchObject({ lanes: 3, undone: 6, restored: 6, begun: 0, rejected: 0 })
    expect(await target.violations()).toEqual([])
  })

  test('a rollback tells how many jobs never left the source, and of ten where they are and why', async () => {
    await target.clear()
    const bad = Array.from({ length: 12 }, () => 'bad')
    await target.take(new PagedSource(['A1', ...bad, 'B2']), { name: 'm', isMove: true })
    expect(await target.rollBack(new PagedSource(), 'm')).toMatchObject({
      restored: 2,
      rejected: 12,
      left: Array.from({ length: 10 }, () => ({ where: 'q', message: 'no job' })),
    })
  })

  test('jobs that each run of a move left are counted once', async () => {
    await target.clear()
    const stopped = new PagedSource(['A1', 'bad'], ['B2'])
    await target.take(stopped, { name: 'm', isMove: true, stopAfter: 1 })
    await target.take(new PagedSource(['bad', 'B2']), { name: 'm', isMove: true })
    expect(await target.rollBack(new PagedSource(), 'm')).toMatchObject({
      restored: 2,
      rejected: 1,
      left: [{ where: 'q', message: 'no job' }],
    })
  })

  test('what a killed run had stored and not acknowledged is acknowledged by the next, by name', async () => {
    await target.clear()
    const killed = new PagedSource(['A1', 'B2'])
    killed.dies = true
    await expect(target.take(killed, { name: 'm', isMove: true })).rejects.toThrow('killed')
    const again = new PagedSource(['A3'])
    const { counts } = await target.take(again, { name: 'm', isMove: true })
    expect(again.finished).toEqual(['jid-of-A1', 'jid-of-B2'])
    expect(again.removed).toEqual(['A3'])
    expect(counts).toMatchObject({ created: 1, known: 0, removed: 3 })
    const later = new PagedSource([])
    await target.take(later, { name: 'm', isMove: true })
    expect(later.finished).toEqual([])
  })
})
