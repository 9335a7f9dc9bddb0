import { describe, expect, test } from 'vitest'
import { BroadcastWake, IdleWorkers, type IdleWorker } from '../../src/node/idle-workers.ts'
import { ManualClock } from '../../src/manual-clock.ts'

const count = 1_000

/** Sleepers under one key; each that is woken does what `then` says. */
function crowd(then: (idle: IdleWorkers, worker: IdleWorker) => void = () => undefined) {
  const clock = new ManualClock()
  const idle = new IdleWorkers()
  const woken: number[] = []
  const workers = Array.from({ length: count }, (_, at): IdleWorker => ({
    subscription: {
      by: 'named',
      access: 'any',
      key: `${at}`,
      idleKeys: ['f'],
      mayWait: true,
      groups: () => [],
    },
    wake() {
      woken.push(at)
      then(idle, this)
    },
  }))
  for (const worker of workers) idle.add(worker)
  return { clock, idle, woken, workers, rounds: new BroadcastWake(idle, clock) }
}

const everyone = Array.from({ length: count }, (_, at) => at)

describe('waking all', () => {
  test('wakes a few at once and the others in later turns, the longest idle first', async () => {
    const { clock, woken, rounds } = crowd()
    rounds.wakeAll(['f'])
    expect(woken.length).toBeGreaterThan(0)
    expect(woken.length).toBeLessThan(count / 10)
    await clock.turn()
    expect(woken).toEqual(everyone)
  })

  test('wakes each once, even if workers that found nothing are idle again at once', async () => {
    const { clock, idle, woken, rounds } = crowd((again, worker) => again.add(worker, true))
    rounds.wakeAll(['f'])
    await clock.turn()
    expect(woken).toEqual(everyone)
    expect(idle.size).toBe(count)
  })

  test('skips workers that are awake or gone by then', async () => {
    const { clock, idle, woken, workers, rounds } = crowd()
    rounds.wakeAll(['f'])
    const [last] = workers.slice(-1)
    if (last) idle.remove(last)
    await clock.turn()
    expect(woken).toEqual(everyone.slice(0, -1))
  })

  test('again before the end wakes those that are idle again by then', async () => {
    const { clock, woken, rounds } = crowd((again, worker) => again.add(worker, true))
    rounds.wakeAll(['f'])
    const atOnce = woken.length
    rounds.wakeAll(['f'])
    await clock.turn()
    expect(woken).toHaveLength(count + atOnce)
    expect(new Set(woken).size).toBe(count)
  })
})
