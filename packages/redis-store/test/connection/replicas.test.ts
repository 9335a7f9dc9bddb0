import { describe, expect, test, vi } from 'vitest'
import { Replicas } from '../../src/connection/replicas.ts'
import { stateOf } from '../../src/connection/server-state.ts'

/** Ports of two replicas. */
const [one, two] = [7001, 7002]
const online = (port: number, offset = 100) =>
  `ip=10.0.0.2,port=${port},state=online,offset=${offset},lag=0`

function masterWith(...replicas: readonly string[]) {
  const lines = replicas.map((words, at) => `slave${at}:${words}`)
  const own = ['master_replid:first', 'master_repl_offset:100']
  const count = `connected_slaves:${replicas.length}`
  return stateOf(['# Replication', 'role:master', count, ...lines, ...own].join('\r\n'))
}

const promoted = stateOf('role:master\r\nmaster_replid:second\r\nmaster_replid2:first\r\n')
const restartedAlone = stateOf('role:master\r\nmaster_replid:third\r\nmaster_replid2:0000\r\n')
const stillReplica = stateOf('role:slave\r\nmaster_replid:first\r\nmaster_replid2:0000\r\n')

describe('the replicas of a master that keep up', () => {
  test('are those that are online, and asked for nothing while they stay', async () => {
    const ask = vi.fn(() => Promise.resolve(undefined))
    const replicas = new Replicas(ask)
    const copying = online(two).replace('online', 'wait_bgsave')
    expect(await replicas.isReplaced(masterWith(online(one), copying))).toBe(false)
    expect(replicas.count).toBe(1)
    expect(await replicas.isReplaced(masterWith(online(one), online(two)))).toBe(false)
    expect(replicas.count).toBe(2)
    expect(ask).not.toHaveBeenCalled()
  })

  test.each([
    ['is the next master', promoted, true, 1],
    ['has restarted as a master of its own', restartedAlone, false, 0],
    ['is a replica', stillReplica, false, 0],
    ['does not answer', undefined, false, 0],
  ])('one that leaves and %s is told from the others', async (_how, state, isReplaced, count) => {
    const ask = vi.fn(() => Promise.resolve(state))
    const replicas = new Replicas(ask)
    await replicas.isReplaced(masterWith(online(one)))
    expect(await replicas.isReplaced(masterWith())).toBe(isReplaced)
    expect(ask).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ host: '10.0.0.2', port: one }),
    )
    // A replica that has taken the place of its master is asked for until that is known to all.
    expect(replicas.count).toBe(count)
    expect(await replicas.isReplaced(masterWith())).toBe(isReplaced)
  })

  test('lack one that does not confirm, until it has caught up', async () => {
    const replicas = new Replicas(() => Promise.resolve(undefined))
    await replicas.isReplaced(masterWith(online(one), online(two)))
    await replicas.isReplaced(masterWith(online(one, 40), online(two, 90)), 1)
    expect(replicas.count).toBe(1)
    await replicas.isReplaced(masterWith(online(one, 99), online(two, 200)))
    expect(replicas.count).toBe(1)
    await replicas.isReplaced(masterWith(online(one, 100), online(two, 200)))
    expect(replicas.count).toBe(2)
  })

  test('are told of each time that there are more or fewer', async () => {
    const told = vi.fn()
    const replicas = new Replicas(() => Promise.resolve(undefined), told)
    for (const state of [masterWith(), masterWith(), masterWith(online(one)), masterWith()])
      await replicas.isReplaced(state)
    expect(told.mock.calls).toEqual([[0], [1], [0]])
  })

  test('know whom ROLE names', async () => {
    const replicas = new Replicas(() => Promise.resolve(undefined))
    await replicas.isReplaced(masterWith(online(one)))
    const role = (...ports: readonly number[]) =>
      ['master', 100, ports.map((port) => ['10.0.0.2', String(port), '100'] as const)] as const
    expect(replicas.hasAll(role())).toBe(true)
    expect(replicas.hasAll(role(one))).toBe(true)
    expect(replicas.hasAll(role(one, two))).toBe(false)
  })
})
