import { describe, expect, test } from 'vitest'
import { ReplyQueue } from '../../../src/doors/net/reply-slots.ts'

describe('reply slots', () => {
  function aQueue() {
    const left: string[] = []
    const queue = new ReplyQueue(() => {
      for (let bytes = queue.next(); bytes; bytes = queue.next()) {
        if (bytes.length > 0) left.push(Buffer.from(bytes).toString())
      }
    })
    return { queue, left }
  }

  test('are sent in the order of their requests, whichever is ready first', () => {
    const { queue, left } = aQueue()
    const [one, silent, two] = [queue.add(1), queue.add(1, true), queue.add(1)]
    two.fill(Buffer.from('two'))
    one.fill(Buffer.from('one'))
    expect(left).toEqual(['one'])
    silent.fill(Buffer.from('wrong'))
    expect(left).toEqual(['one', 'wrong', 'two'])
    expect([queue.isEmpty, queue.size, queue.cost, queue.filledBytes]).toEqual([true, 0, 0, 0])
  })

  test('of requests that rarely reply do not delay a ready reply, and count until they are filled', () => {
    const { queue, left } = aQueue()
    const silent = [queue.add(5, true), queue.add(6, true)]
    queue.add(7).fillAtHand(Buffer.from('at hand'))
    expect(left).toEqual(['at hand'])
    expect(silent.map(({ wasPassed }) => wasPassed)).toEqual([true, true])
    expect([queue.isEmpty, queue.size, queue.cost]).toEqual([true, 2, 11])
    queue.add(1).fill(Buffer.from('next'))
    for (const place of silent) place.fill(Buffer.from('too late'))
    expect(left).toEqual(['at hand', 'next'])
    expect([queue.isEmpty, queue.size, queue.cost]).toEqual([true, 0, 0])
  })

  test('tell when all before them have left, once and in a turn of their own', async () => {
    const { queue, left } = aQueue()
    const told: string[] = []
    const [one, two, three] = [queue.add(1), queue.add(1), queue.add(1)]
    one.whenFirst(() => told.push('one'))
    two.whenFirst(() => {
      told.push(`two after ${left.join()}`)
      two.fill(Buffer.from('two'))
    })
    three.whenFirst(() => told.push('three'))
    expect(told).toEqual([])
    await Promise.resolve()
    expect(told).toEqual(['one'])
    one.fill(Buffer.from('one'))
    expect([told, left]).toEqual([['one'], ['one']])
    await Promise.resolve()
    await Promise.resolve()
    expect([told, left]).toEqual([
      ['one', 'two after one', 'three'],
      ['one', 'two'],
    ])
  })

  test('hold back a reply while an earlier one is pending', () => {
    const { queue, left } = aQueue()
    const [silent, owed, last] = [queue.add(1, true), queue.add(1), queue.add(1)]
    last.fillAtHand(Buffer.from('last'))
    expect(silent.wasPassed).toBe(false)
    owed.fill(Buffer.from('owed'))
    expect(left).toEqual([])
    silent.fill(Buffer.from('wrong'))
    expect(left).toEqual(['wrong', 'owed', 'last'])
  })
})
