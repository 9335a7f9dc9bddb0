import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { sampleOf } from '@crossgear/tools/sample'
import { expect, onTestFinished, test } from 'vitest'
import { play } from '../run/play.ts'
import { planOf } from '../world/plan.ts'
import { SimStores } from '../world/sim-store.ts'

const stores = await SimStores.start()

/** Node's own time, chance and timers: each call of one makes two runs of a seed differ, but for ioredis's timers of what never comes late. */
const sources: readonly (readonly [object, readonly string[]])[] = [
  [globalThis, ['setTimeout', 'setInterval']],
  [Date, ['now']],
  [performance, ['now']],
  [Math, ['random']],
  [crypto, ['randomBytes', 'randomInt', 'randomUUID']],
  [timers, ['setTimeout', 'setImmediate', 'setInterval']],
]

const seeds = Array.from({ length: 15 }, (_none, at) => at + 1)

/** Notes each call of a source from now on. */
function watchSources(): readonly string[] {
  const calls: string[] = []
  for (const [owner, names] of sources) {
    for (const name of names) {
      const own = Object.getOwnPropertyDescriptor(owner, name)
      const method = Reflect.get(owner, name) as (...args: unknown[]) => unknown
      const value = (...args: unknown[]): unknown => {
        // Each frame of a stack is looked up in the map of its source.
        const { stackTraceLimit } = Error
        Error.stackTraceLimit = 2
        const caller = new Error('called').stack?.split('\n')[2]?.trim() ?? ''
        Error.stackTraceLimit = stackTraceLimit
        if (!caller.includes('ioredis')) calls.push(`${name} ${caller}`)
        return method.apply(owner, args)
      }
      Object.defineProperty(owner, name, { configurable: true, writable: true, value })
      onTestFinished(() => {
        if (own) Object.defineProperty(owner, name, own)
        else Reflect.deleteProperty(owner, name)
        syncBuiltinESMExports()
      })
    }
  }
  syncBuiltinESMExports()
  return calls
}

test('a world takes no time, chance or timer from Node', async () => {
  const calls = watchSources()
  crypto.randomBytes(1)
  for (const seed of sampleOf(seeds, 3))
    await play({ ...planOf(seed), hasCron: true }, stores.open, false)
  expect(calls).toEqual([expect.stringContaining('own-time.test.ts')])
})
