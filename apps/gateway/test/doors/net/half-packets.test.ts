import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { describe, expect, test } from 'vitest'
import {
  HalfPackets,
  sharedBytes,
  shortBytes,
  turnMs,
} from '../../../src/doors/net/half-packets.ts'
import { InputBudget } from '../../../src/doors/net/input-budget.ts'

const mib = 1024 * 1024

class Peer {
  readonly address: string
  mayRead = true

  constructor(address = '127.0.0.1') {
    this.address = address
  }

  setMayRead(mayRead: boolean): void {
    this.mayRead = mayRead
  }

  evict(): void {
    throw new Error('nobody is over the bound of the door')
  }
}

/** An address whose packets grow as long as they are read. */
function flooded(peers: number) {
  const clock = new ManualClock()
  const half = new HalfPackets(clock)
  const held = new Map(Array.from({ length: peers }, () => [new Peer(), 0]))
  const grow = (bytes = mib): void => {
    for (const [peer, before] of held) {
      if (!peer.mayRead) continue
      held.set(peer, before + bytes)
      half.keep(peer, before + bytes)
    }
  }
  const readers = (): readonly Peer[] => [...held.keys()].filter(({ mayRead }) => mayRead)
  return { clock, half, held, grow, readers }
}

describe('half-arrived packets of an address', () => {
  test('that hold much are read one after the other, so that one alone fills memory', () => {
    const { held, grow, readers } = flooded(4)
    for (let round = 0; round < 64; round += 1) grow()
    expect(readers()).toHaveLength(1)
    const total = [...held.values()].reduce((sum, bytes) => sum + bytes, 0)
    expect(total).toBeLessThanOrEqual(64 * mib + sharedBytes)
  })

  test('have their turn when the one before is complete', () => {
    const { half, held, grow, readers } = flooded(4)
    for (let round = 0; round < 8; round += 1) grow()
    const done = new Set<Peer>()
    for (let round = 0; round < 4; round += 1) {
      for (const peer of readers()) {
        done.add(peer)
        half.keep(peer, 0)
        held.set(peer, 0)
        peer.mayRead = false
      }
    }
    expect(done.size).toBe(4)
    expect(half.isEmpty).toBe(true)
  })

  test('that stop wait behind the others after their time', async () => {
    const { clock, held, grow, readers } = flooded(4)
    for (let round = 0; round < 8; round += 1) grow()
    const had = new Set<Peer>()
    for (let round = 0; round < held.size; round += 1) {
      for (const peer of readers()) had.add(peer)
      await clock.advance(turnMs)
    }
    expect(had.size).toBe(4)
  })

  test('are read on at once where they are short, whatever the long ones hold', () => {
    const { half, grow } = flooded(4)
    for (let round = 0; round < 8; round += 1) grow()
    const honest = new Peer()
    half.keep(honest, shortBytes)
    expect(honest.mayRead).toBe(true)
  })

  test('all go on once little of them is left', () => {
    const { half, held, grow, readers } = flooded(4)
    for (let round = 0; round < 8; round += 1) grow()
    const [longest] = readers()
    half.keep(longest!, 0)
    held.delete(longest!)
    expect(readers().length).toBe(3)
  })

  test('hold back no other address', () => {
    const budget = new InputBudget(512 * mib, new ManualClock())
    const peers = Array.from({ length: 4 }, () => new Peer('10.0.0.1'))
    for (const peer of peers) budget.keep(peer, 16 * mib)
    const others = Array.from({ length: 2 }, () => new Peer('10.0.0.2'))
    for (const other of others) budget.keep(other, 2 * mib)
    expect(peers.filter(({ mayRead }) => mayRead)).toHaveLength(1)
    expect(others.every(({ mayRead }) => mayRead)).toBe(true)
  })
})
