import { describe, expect, test } from 'vitest'
import { IdleWorkers, type IdleWorker } from '../../src/node/idle-workers.ts'

const woken: string[] = []

function sleeper(name: string, ...idleKeys: string[]): IdleWorker {
  return {
    subscription: {
      by: 'named',
      access: 'any',
      key: name,
      idleKeys,
      mayWait: true,
      groups: () => [],
    },
    wake: () => void woken.push(name),
  }
}

function wake(idle: IdleWorkers, keys: readonly string[], count: number): string[] {
  woken.length = 0
  expect(idle.wake(keys, count)).toBe(woken.length)
  return [...woken]
}

describe('idle workers', () => {
  test('are woken longest idle first, over all their keys', () => {
    const idle = new IdleWorkers()
    const workers = [
      sleeper('a', 'fmail'),
      sleeper('b', 'lmail@bulk'),
      sleeper('c', 'fsms', 'fmail'),
      sleeper('d', 'fsms'),
      sleeper('e', 'fmail'),
    ]
    for (const worker of workers) idle.add(worker)
    expect(wake(idle, ['fmail', 'lmail@bulk'], 3)).toEqual(['a', 'b', 'c'])
    expect(wake(idle, ['fsms'], 9)).toEqual(['d'])
    expect(wake(idle, ['fmail', 'lmail@bulk'], 9)).toEqual(['e'])
    expect([...idle.keys()]).toEqual([])
    expect(idle.size).toBe(0)
  })

  test('with many functions take turns with all others, and are found by each function', () => {
    const idle = new IdleWorkers()
    const many = Array.from({ length: 20 }, (_none, at) => `f${at}`)
    const one = [sleeper('many', ...many), sleeper('other', 'f3'), sleeper('many', ...many)]
    for (const worker of one) idle.add(worker)
    expect([idle.hasKey('f19'), idle.hasKey('f20')]).toEqual([true, false])
    expect(wake(idle, ['f3'], 9)).toEqual(['many', 'other', 'many'])
    expect([[...idle.keys()], idle.hasKey('f19'), idle.size]).toEqual([[], false, 0])
    for (const worker of one) idle.add(worker, true)
    expect(new Set(idle.keys())).toEqual(new Set(many))
    // Each in its old place.
    expect(wake(idle, ['f3', 'f7'], 2)).toEqual(['many', 'other'])
    expect(wake(idle, ['f19'], 9)).toEqual(['many'])
  })

  test('with many functions enter the line of each once, however often they sleep', () => {
    const idle = new IdleWorkers()
    const names = Array.from({ length: 1_000 }, (_none, at) => `f${at}`)
    let looks = 0
    const idleKeys = new Proxy(names, {
      get: (of, name) => {
        if (name === Symbol.iterator) looks += 1
        return Reflect.get(of, name) as unknown
      },
    })
    const worker = sleeper('many')
    const busy = { ...worker, subscription: { ...worker.subscription, idleKeys } }
    for (let job = 0; job < 100; job += 1) {
      idle.add(busy)
      expect(wake(idle, ['f500'], 1)).toEqual(['many'])
    }
    expect(looks).toBe(1)
  })

  test('of many kinds that are gone leave no more than some lines behind', () => {
    const idle = new IdleWorkers()
    for (let kind = 0; kind < 100; kind += 1) {
      const names = Array.from({ length: 1_000 }, (_none, at) => `f${kind}-${at}`)
      const worker = sleeper(`kind ${kind}`, ...names)
      idle.add(worker)
      expect(wake(idle, [`f${kind}-7`], 1)).toEqual([`kind ${kind}`])
      idle.add(worker)
      idle.remove(worker)
    }
    expect(idle.lines).toBe(16)
  })

  test('take turns: a woken worker goes to the end of the line', () => {
    const idle = new IdleWorkers()
    const workers = ['a', 'b', 'c'].map((name) => sleeper(name, 'fmail'))
    for (const worker of workers) idle.add(worker)
    const order: string[] = []
    for (let job = 0; job < 6; job += 1) {
      const [name = ''] = wake(idle, ['fmail'], 1)
      order.push(name)
      for (const worker of workers) if (worker.subscription.key === name) idle.add(worker)
    }
    expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
  })

  test('a worker that is idle again is in the line once, at its end', () => {
    const idle = new IdleWorkers()
    const [a, b] = [sleeper('a', 'fmail'), sleeper('b', 'fmail')]
    for (const worker of [a, b, a]) idle.add(worker)
    expect(idle.size).toBe(2)
    expect(wake(idle, ['fmail'], 9)).toEqual(['b', 'a'])
  })

  test('a worker that was woken for nothing keeps its place, also among others like it', () => {
    const idle = new IdleWorkers()
    const workers = ['a', 'b', 'c', 'd'].map((name) => sleeper(name, 'fmail'))
    for (const worker of workers) idle.add(worker)
    expect(wake(idle, ['fmail'], 3)).toEqual(['a', 'b', 'c'])
    for (const worker of workers.slice(1, 3)) idle.add(worker, true)
    idle.add(workers[0] as IdleWorker)
    expect(wake(idle, ['fmail'], 9)).toEqual(['b', 'c', 'd', 'a'])
    expect(idle.size).toBe(0)
    expect([...idle.keys()]).toEqual([])
  })

  test('one that left is not woken and leaves no key behind', () => {
    const idle = new IdleWorkers()
    const worker = sleeper('a', 'fmail', 'qdefault')
    idle.add(worker)
    expect([idle.has(worker), idle.hasKey('qdefault')]).toEqual([true, true])
    idle.remove(worker)
    idle.remove(worker)
    expect([idle.has(worker), idle.hasKey('qdefault')]).toEqual([false, false])
    expect(wake(idle, ['fmail', 'qdefault'], 9)).toEqual([])
  })

  test('one whose subscription changed while idle is no longer found under the old one', () => {
    const idle = new IdleWorkers()
    const worker = { ...sleeper('a', 'fmail') }
    idle.add(worker)
    worker.subscription = sleeper('a', 'fsms').subscription
    idle.add(worker)
    expect([...idle.keys()]).toEqual(['fsms'])
  })

  test('one that becomes idle while others are woken is not woken twice by the same call', () => {
    const idle = new IdleWorkers()
    let wakes = 0
    const restless: IdleWorker = {
      subscription: sleeper('r', 'fmail').subscription,
      wake: () => {
        wakes += 1
        if (wakes < 5) idle.add(restless)
      },
    }
    idle.add(restless)
    idle.wake(['fmail'], 3)
    expect(wakes).toBeLessThanOrEqual(3)
  })
})
