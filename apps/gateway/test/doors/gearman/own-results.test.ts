import { expect, test } from 'vitest'
import { describeGearman } from './support/gearman-gateway.ts'
import type { GearmanPeer } from './support/gearman-peer.ts'

type Send = (peer: GearmanPeer, handle: string) => unknown

/** A report of a worker about its job, by the packet that the client of the job gets. */
const reports: Readonly<Record<string, Send>> = {
  WORK_COMPLETE: (peer, handle) => peer.send('WORK_COMPLETE', handle, 'x'),
  WORK_FAIL: (peer, handle) => peer.send('WORK_FAIL', handle),
  WORK_EXCEPTION: (peer, handle) => peer.send('WORK_EXCEPTION', handle, 'x'),
  WORK_DATA: (peer, handle) => peer.send('WORK_DATA', handle, 'x'),
  WORK_WARNING: (peer, handle) => peer.send('WORK_WARNING', handle, 'x'),
  WORK_STATUS: (peer, handle) => peer.send('WORK_STATUS', handle, '1', '2'),
}

/** A request of the same connection in the same write, and the answer to it. */
const requests: readonly (readonly [answer: string, send: Send])[] = [
  ['NO_JOB', (peer) => peer.send('GRAB_JOB')],
  ['NO_JOB', (peer) => peer.send('GRAB_JOB_UNIQ')],
  ['NO_JOB', (peer) => peer.send('GRAB_JOB_ALL')],
  ['JOB_ASSIGN', (peer) => peer.send('CAN_DO', 'other').send('GRAB_JOB')],
  ['JOB_ASSIGN_UNIQ', (peer) => peer.send('CAN_DO', 'other').send('GRAB_JOB_UNIQ')],
  ['NOOP', (peer) => peer.send('CAN_DO', 'other').send('PRE_SLEEP')],
  ['ECHO_RES', (peer) => peer.send('ECHO_REQ', 'x')],
  ['OPTION_RES', (peer) => peer.send('OPTION_REQ', 'exceptions')],
  ['STATUS_RES', (peer, handle) => peer.send('GET_STATUS', handle)],
  ['STATUS_RES_UNIQUE', (peer) => peer.send('GET_STATUS_UNIQUE', 'u')],
  ['JOB_CREATED', (peer) => peer.send('SUBMIT_JOB_BG', 'later', '', '')],
  ['ERROR', (peer) => peer.send('WORK_COMPLETE', 'H:nobody:1', '')],
  ['TEXT', (peer) => peer.sendBytes('version\n')],
]

const leases: Readonly<Record<string, readonly string[]>> = {
  'without a timeout': [],
  'with a timeout': ['60000'],
}

describeGearman('needs redis-server: a connection that is client and worker', ({ open }) => {
  const cases = Object.keys(leases).flatMap((lease) =>
    Object.keys(reports).map((report) => [report, lease] as const),
  )

  test.each(cases)(
    'gets its own %s before any answer to what it sent after it (%s)',
    async (report, lease) => {
      const gateway = await open()
      const producer = await gateway.peer()
      for (const [at, [answer, send]] of requests.entries()) {
        const fn = `own-${at}`
        const peer = await gateway.peer()
        const timeout = leases[lease] ?? []
        await peer.send('OPTION_REQ', 'exceptions').receive()
        if (timeout.length > 0) peer.send('CAN_DO_TIMEOUT', fn, ...timeout)
        else peer.send('CAN_DO', fn)
        await producer.submit('SUBMIT_JOB_BG', 'other', '', '')
        const handle = await peer.submit('SUBMIT_JOB', fn, 'u', '')
        expect((await peer.ask('GRAB_JOB'))[1]).toBe(handle)
        expect(await peer.ask('GRAB_JOB')).toEqual(['NO_JOB'])
        peer.socket.cork()
        reports[report]?.(peer, handle)
        send(peer, handle)
        peer.socket.uncork()
        const [[first, ofJob] = [], [second] = []] = await peer.receiveMany(2)
        expect([first, ofJob, second]).toEqual([report, handle, answer])
        await peer.leave()
      }
    },
  )
})
