import type { Assignment, Delivery, Subscription } from '@crossgear/core-scheduler'
import { encodeResponse, noJob } from '@crossgear/gearman-codec'
import { describe, expect, test } from 'vitest'
import {
  assignPlain,
  GrabbedJob,
  HeldJob,
  ResultReply,
} from '../../../src/doors/gearman/grabbed-job.ts'
import type { SideSession } from '../../../src/doors/gearman/side-session.ts'
import { ReplyQueue } from '../../../src/doors/net/reply-slots.ts'

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
    answered: () => undefined,
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

describe('the answers behind a result', () => {
  /** A result that Redis has, and whose disk has not confirmed it yet. */
  function stored(awaitsJobs: boolean) {
    const sent: string[] = []
    const queue = new ReplyQueue(() => {
      for (let next = queue.next(); next !== undefined; next = queue.next()) {
        sent.push(Buffer.from(next).toString())
      }
    })
    const connection = { reserveSilent: (mayBePassed: boolean) => queue.add(1, mayBePassed) }
    const session = { awaitsJobs, connection } as unknown as SideSession
    const held = new HeldJob(handle, delivery, { fn: 'mail' }, () => undefined)
    const reply = new ResultReply(session, held, 'RESULT_WITHOUT_JOB')
    queue.add(1).fill(Buffer.from('answer'))
    reply.stored('done')
    return { reply, sent: () => sent.filter((text) => text !== '') }
  }

  test('do not wait for the disk where another connection gets it', () => {
    expect(stored(false).sent()).toEqual(['answer'])
  })

  test('wait for it where the same connection may be its client', () => {
    const { reply, sent } = stored(true)
    expect(sent()).toEqual([])
    reply.settled('done')
    expect(sent()).toEqual(['answer'])
  })
})
