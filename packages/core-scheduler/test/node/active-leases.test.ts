import { describe, expect, test } from 'vitest'
import { ActiveLeases } from '../../src/node/active-leases.ts'
import type { JobRef } from '../../src/model/job.ts'
import type { Store } from '../../src/store/store.ts'

const assignment = (token: string, id = 1, sinceMs = 0) =>
  ({ job: { lane: 'mail', id, token }, sinceMs }) as Parameters<ActiveLeases['add']>[0]

/** A store in which these tokens hold their jobs; notes which jobs were looked at. */
function storeWith(...tokens: readonly string[]) {
  const looked: number[] = []
  const look = (_lane: string, ids: readonly number[]) => {
    looked.push(...ids)
    return Promise.resolve(ids.map((id) => ({ token: tokens.find((of) => of === `t${id}`) })))
  }
  return { store: { jobs: { look } } as unknown as Store, looked }
}

/** Words that are noted when a node may leave. */
async function emptied(leases: ActiveLeases): Promise<readonly string[]> {
  const told: string[] = []
  void leases.whenEmpty().then(() => told.push('empty'))
  await Promise.resolve()
  return told
}

describe('the leases of a node', () => {
  test('have ended when the last one is removed', async () => {
    const leases = new ActiveLeases()
    for (const token of ['t1', 't2']) leases.add(assignment(token))
    const told = await emptied(leases)
    leases.remove('t1')
    await Promise.resolve()
    expect(told).toEqual([])
    leases.remove('t2')
    await Promise.resolve()
    expect(told).toEqual(['empty'])
  })

  test('have ended when a claim in progress has brought none', async () => {
    const leases = new ActiveLeases()
    leases.claiming()
    leases.claiming()
    const told = await emptied(leases)
    leases.claimed()
    await Promise.resolve()
    expect(told).toEqual([])
    leases.claimed()
    await Promise.resolve()
    expect(told).toEqual(['empty'])
  })

  test('have ended when the store has given their jobs to others', async () => {
    const leases = new ActiveLeases()
    for (const id of [1, 2]) leases.add(assignment(`t${id}`, id))
    const told = await emptied(leases)
    await leases.prune(storeWith('t2').store, 10)
    expect([told, leases.has('t1'), leases.has('t2')]).toEqual([[], false, true])
    await leases.prune(storeWith().store, 20)
    expect([told, leases.size]).toEqual([['empty'], 0])
  })

  test('are looked at once a minute each, if nobody waits for their end', async () => {
    const leases = new ActiveLeases()
    const refs: readonly (JobRef & { sinceMs: number })[] = [
      { lane: 'mail', id: 1, sinceMs: 0 },
      { lane: 'mail', id: 2, sinceMs: 30_000 },
    ]
    for (const { id, sinceMs } of refs) leases.add(assignment(`t${id}`, id, sinceMs))
    const seen: number[][] = []
    for (const nowMs of [59_999, 60_000, 90_000, 119_999, 120_000]) {
      const { store, looked } = storeWith('t1', 't2')
      await leases.prune(store, nowMs)
      seen.push(looked)
    }
    expect(seen).toEqual([[], [1], [2], [], [1]])
  })
})
