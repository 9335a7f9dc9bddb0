import { expect, onTestFinished, test, vi } from 'vitest'
import { ArrivalLines } from '../../src/intake/arrival-lines.ts'

class Gone {
  readonly items: string[] = []
  readonly lines = new ArrivalLines<string>(
    (item) => void this.items.push(item),
    (item, error) => void this.items.push(`${item}: ${String(error)}`),
  )
}

interface Gate {
  readonly ready: Promise<void>
  open(): Promise<void>
}

function gate(): Gate {
  let settle = (): void => undefined
  const ready = new Promise<void>((resolve) => {
    settle = resolve
  })
  return {
    ready,
    async open() {
      settle()
      await ready
    },
  }
}

test('items leave in the order of their queue, whichever is ready first', async () => {
  const { items, lines } = new Gone()
  const [first, second] = [gate(), gate()]
  lines.add('q', 'one', first.ready)
  lines.add('q', 'two', second.ready)
  lines.add('q', 'three', undefined)
  lines.add('other', 'four', undefined)
  expect(items).toEqual(['four'])
  await second.open()
  expect(items).toEqual(['four'])
  await first.open()
  expect(items).toEqual(['four', 'one', 'two', 'three'])
  expect(lines.isEmpty).toBe(true)
  lines.add('q', 'five', undefined)
  expect(items.at(-1)).toBe('five')
})

test('an item whose wait fails is refused in its turn', async () => {
  const { items, lines } = new Gone()
  const first = gate()
  const failed = Promise.reject(new Error('no lane'))
  lines.add('q', 'one', first.ready)
  lines.add('q', 'two', failed)
  lines.add('q', 'three', undefined)
  await failed.catch(() => undefined)
  await first.open()
  expect(items).toEqual(['one', 'two: Error: no lane', 'three'])
})

test('an item that a passed one brings stands behind those that came before', async () => {
  const items: string[] = []
  const first = gate()
  const lines: ArrivalLines<string> = new ArrivalLines(
    (item) => {
      items.push(item)
      if (item === 'one') lines.add('q', 'three', undefined)
    },
    () => undefined,
  )
  lines.add('q', 'one', first.ready)
  lines.add('q', 'two', undefined)
  await first.open()
  expect(items).toEqual(['one', 'two', 'three'])
  expect(lines.isEmpty).toBe(true)
})

test('many items of a new lane do not move for each that leaves', async () => {
  const { items, lines } = new Gone()
  const jobs = 20_000
  const lane = gate()
  for (let at = 0; at < jobs; at += 1) lines.add('q', String(at), lane.ready)
  lines.add('q', 'behind', new Promise(() => undefined))
  let moved = 0
  const splice = Array.prototype.splice as (this: unknown[], ...args: unknown[]) => unknown[]
  const spy = vi.spyOn(Array.prototype, 'splice').mockImplementation(function (
    this: unknown[],
    ...args: unknown[]
  ): unknown[] {
    moved += this.length
    return splice.apply(this, args)
  })
  onTestFinished(() => {
    spy.mockRestore()
  })
  await lane.open()
  expect(items).toHaveLength(jobs)
  expect(moved).toBeLessThan(4 * jobs)
})
