import type { Delivery } from '@crossgear/core-scheduler'
import { describe, expect, test } from 'vitest'
import { HeldJobs } from '../../../src/doors/faktory/held-jobs.ts'

const jid = 'jid-0001'

function delivery(id: number, lane = 'mail'): Delivery {
  const job = { lane, id, token: `ca-${id}`, input: Buffer.from('in') }
  return { job, sinceMs: 0 } as unknown as Delivery
}

/** The id of the job that an outcome with the jid would end. */
const heldId = (held: HeldJobs): number | undefined => held.find(jid)?.assignment.job.id

describe('the jobs of a worker, by jid', () => {
  test('come back one by one if several have the same', () => {
    const held = new HeldJobs()
    for (const id of [1, 2, 3]) held.hold(jid, delivery(id))
    const seen: (number | undefined)[] = []
    for (let found = held.find(jid); found; found = held.find(jid)) {
      seen.push(heldId(held))
      held.drop(jid, found)
    }
    expect([seen, held.size]).toEqual([[3, 2, 1], 0])
  })

  test('do not come back if their lease was lost', () => {
    const held = new HeldJobs()
    held.hold(jid, delivery(1))
    held.find(jid)!.fenced = true
    held.hold(jid, delivery(2))
    held.drop(jid, held.find(jid)!)
    expect([heldId(held), held.size]).toEqual([undefined, 0])
  })

  test('stay where an outcome of an earlier one with the same jid comes late', () => {
    const held = new HeldJobs()
    held.hold(jid, delivery(1))
    const first = held.find(jid)!
    held.hold(jid, delivery(2))
    held.drop(jid, first)
    expect(heldId(held)).toBe(2)
  })

  test('count for their lanes until the lease is lost', () => {
    const held = new HeldJobs()
    held.hold(jid, delivery(1))
    held.hold('jid-0002', delivery(1, 'sms'))
    expect(held.lanes()).toEqual(new Set(['mail', 'sms']))
    held.find(jid)!.fenced = true
    expect([held.lanes(), held.size]).toEqual([new Set(['sms']), 2])
  })

  test('have no payload, which may pin a large reply', () => {
    const held = new HeldJobs()
    held.hold(jid, delivery(1))
    expect(held.find(jid)!.assignment.job).toMatchObject({ id: 1, input: Buffer.alloc(0) })
  })

  test('are 10,000 at most, the latest', () => {
    const held = new HeldJobs()
    for (let id = 0; id <= 10_000; id += 1) held.hold(`jid-${id}`, delivery(id))
    expect([held.size, held.find('jid-0'), held.find('jid-1')?.assignment.job.id]).toEqual([
      10_000,
      undefined,
      1,
    ])
  })
})
