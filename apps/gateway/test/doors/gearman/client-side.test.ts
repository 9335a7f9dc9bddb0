import type { JobEvent, JobRef, NewJob, Submission } from '@crossgear/core-scheduler'
import { encodeResponse } from '@crossgear/gearman-codec'
import { beforeEach, describe, expect, test } from 'vitest'
import { ClientSide, type SubmittedJob } from '../../../src/doors/gearman/client-side.ts'
import type { SideSession } from '../../../src/doors/gearman/side-session.ts'
import { ReplyQueue, type ReplySlot } from '../../../src/doors/net/reply-slots.ts'

const handle = 'H:test:10000000000000007'
const ref: JobRef = { lane: 'mail', id: 7 }
const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: true }
const complete: JobEvent = { kind: 'complete', output: Buffer.from('out') }

/** Stands in for a connection: what has left, in order. */
class Wire {
  readonly left: string[] = []
  readonly #queue = new ReplyQueue(() => {
    for (let bytes = this.#queue.next(); bytes; bytes = this.#queue.next()) this.sendNow(bytes)
  })

  reserve(): ReplySlot {
    return this.#queue.add(1)
  }

  send(bytes: Uint8Array): ReplySlot {
    const slot = this.reserve()
    slot.fill(bytes)
    return slot
  }

  sendNow(bytes: Uint8Array): void {
    this.left.push(Buffer.from(bytes).toString('latin1'))
  }
}

describe('a client with a foreground job', () => {
  let wire: Wire
  let submitted: Submission[]
  let abandoned: JobRef[]
  let client: ClientSide
  beforeEach(() => {
    wire = new Wire()
    submitted = []
    abandoned = []
    const scheduler = {
      submit: (_lane: string, submission: Submission) => void submitted.push(submission),
      abandon: (_waiter: unknown, refs: readonly JobRef[]) => void abandoned.push(...refs),
    }
    const context = { handles: { format: () => handle } }
    const session = { scheduler, context, connection: wire, gone: false } as unknown as SideSession
    client = new ClientSide(session, true)
  })

  /** A job that the store has. */
  function stored(): SubmittedJob {
    client.submit('mail', job)
    const last = submitted.at(-1) as SubmittedJob
    last.submitted({ kind: 'created', id: ref.id }, 1)
    return last
  }

  test('gets its events behind JOB_CREATED, which waits for earlier replies', () => {
    const earlier = wire.reserve()
    const of = stored()
    of.onEvent(ref, { kind: 'data', data: Buffer.from('part') })
    of.onEvent(ref, complete)
    expect(wire.left).toEqual([])
    earlier.fill(Buffer.from('earlier'))
    const packets = [
      encodeResponse('JOB_CREATED', handle),
      encodeResponse('WORK_DATA', handle, Buffer.from('part')),
      encodeResponse('WORK_COMPLETE', handle, Buffer.from('out')),
    ]
    expect(wire.left).toEqual(['earlier', ...packets.map((packet) => packet.toString('latin1'))])
  })

  test('gets its events ahead of replies that are still owed for later requests', () => {
    const of = stored()
    wire.reserve()
    of.onEvent(ref, complete)
    expect(wire.left).toHaveLength(2)
  })

  test('abandons the jobs that it still waits for when it leaves, and no others', () => {
    stored().onEvent(ref, complete)
    const waiting = stored()
    waiting.onEvent(ref, { kind: 'warning', data: Buffer.from('part') })
    client.leave()
    expect(abandoned).toEqual([ref])
    client.leave()
    expect(abandoned).toHaveLength(1)
  })
})
