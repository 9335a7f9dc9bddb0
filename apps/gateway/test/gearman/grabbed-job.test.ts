import type { Assignment, Delivery, Subscription } from '@crossgear/core-scheduler'
import { encodeResponse, noJob } from '@crossgear/gearman-codec'
import { describe, expect, test } from 'vitest'
import { assignPlain, GrabbedJob } from '../../src/gearman/grabbed-job.ts'
import type { SideSession } from '../../src/gearman/side-session.ts'
import { ReplyQueue } from '../../src/net/reply-slots.ts'

const handle = 'H:test:10000000000000007'
const delivery = {
  job: { lane: 'mail', id: 7, token: 'na-1', input: Buffer.from('in') },
  sinceMs: 0,
} as unknown as Delivery

/** A request of a worker that can do `mail`, or has given it up meanwhile; `hasHandle`: its job's lane is registered. */
function grabbed({ isAble = true, hasHandle = true } = {}) {
  const sent: string[] = []
  const held: string[] = []
  const released: (readonly [Assignment, boolean])[] = []
  const queue = new ReplyQueue(() => sent.push(Buffer.from(queue.next()!).toString('latin1')))
  const session = {
    context: { handles: { of: () => (hasHandle ? handle : undefined) } },
    scheduler: {
      release: (of: Assignment, isLost: boolean) => void released.push([of, isLost]),
    },
  } as unknown as SideSession
  const grabber = {
    subscription: {} as Subscription,
    abilityFor: () => (isAble ? { fn: 'mail' } : undefined),
    hold: (of: string) => void held.push(of),
  }
  const grab = { form: assignPlain, slot: queue.add(1) }
  const request = new GrabbedJob(session, grabber, grab, false)
  return { request, sent, held, released }
}

describe('a job for a worker', () => {
  test('is held by it, and sent', () => {
    const { request, sent, held, released } = grabbed()
    request.assigned(delivery)
    const packet = encodeResponse('JOB_ASSIGN', handle, 'mail', Buffer.from('in'))
    expect([held, sent, released]).toEqual([[handle], [packet.toString('latin1')], []])
  })

  test.each([
    ['has given the function up meanwhile', { isAble: false }],
    ['could not name it', { hasHandle: false }],
  ])('goes back, and counts as no loss, if it %s', (_how, how) => {
    const { request, sent, held, released } = grabbed(how)
    request.assigned(delivery)
    expect([held, sent]).toEqual([[], [Buffer.from(noJob).toString('latin1')]])
    expect(released).toEqual([[delivery, false]])
  })
})
