import { expect, test } from 'vitest'
import { Cluster } from '../harness.ts'

type Part = Record<string, (...args: unknown[]) => Promise<unknown>>

test.each([
  ['jobs', 'expired'],
  ['lanes', 'heal'],
  ['lanes', 'nonEmpty'],
] as const)(
  'a node stays alive for the others during a slow maintenance call: %s.%s',
  async (part, step) => {
    const cluster = new Cluster()
    let isSlow = false
    const slow = await cluster.node('slow', {}, (store) => {
      const slowed = store[part] as unknown as Part
      const quick = slowed[step]?.bind(slowed)
      slowed[step] = async (...args: unknown[]) => {
        if (isSlow) await new Promise<void>((resolve) => cluster.clock.after(5_000, resolve))
        return quick?.(...args)
      }
      return store
    })
    const other = await cluster.node('other')
    await slow.submitted('mail')
    const worker = await slow.worker('mail').taken()
    expect(worker.jobs).toEqual(['mail:1'])
    slow.worker('mail').sleep()
    isSlow = true
    await cluster.pass(10_000)
    const taker = await other.worker('mail').taken()
    expect(taker.jobs).toEqual([])
  },
)
