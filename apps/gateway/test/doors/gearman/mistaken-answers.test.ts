import { expect, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import type { GearmanPeer } from './support/gearman-peer.ts'
import { describeGearman } from './support/gearman-gateway.ts'

const noSuchJob = ['ERROR', 'JOB_NOT_FOUND', expect.any(String) as string]

describeGearman('needs redis-server: a worker that waits for no job', ({ open, redis }) => {
  /** A worker, and a job that waits. */
  async function waiting() {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    await worker.sync()
    const handle = await client.submit('SUBMIT_JOB_BG', 'mail', '', 'in')
    /** Sends what has a job request at its end, which has left for the store when this resolves. */
    const asks = async (send: (peer: GearmanPeer) => void): Promise<void> => {
      const claim = vi.spyOn(gateway.scheduler, 'claim')
      send(worker)
      await vi.waitFor(() => expect(claim).toHaveBeenCalledOnce(), soon)
      claim.mockRestore()
    }
    return { worker, asks, assigned: ['JOB_ASSIGN', handle, 'mail', 'in'] }
  }

  /** Answers of the store come late until `goOn`. */
  async function standStill(): Promise<{ goOn: () => Promise<unknown> }> {
    await redis('CLIENT', 'PAUSE', '60000', 'WRITE')
    return { goOn: () => redis('CLIENT', 'UNPAUSE') }
  }

  test('gets none: one that comes after its PRE_SLEEP goes back, and wakes it', async () => {
    const { worker, asks, assigned } = await waiting()
    const store = await standStill()
    await asks((peer) => peer.send('GRAB_JOB'))
    expect(await worker.ask('PRE_SLEEP')).toEqual(['NO_JOB'])
    await store.goOn()
    expect(await worker.receive()).toEqual(['NOOP'])
    expect(await worker.ask('GRAB_JOB')).toEqual(assigned)
  })

  test('hears nothing more, where it took an ERROR for the answer', async () => {
    const { worker, asks, assigned } = await waiting()
    const store = await standStill()
    await asks((peer) => peer.send('WORK_COMPLETE', 'H:test:1', '').send('GRAB_JOB'))
    expect(await worker.receive()).toEqual(noSuchJob)
    worker.send('PRE_SLEEP')
    await store.goOn()
    expect(await worker.receive()).toEqual(['NOOP'])
    expect(await worker.ask('GRAB_JOB')).toEqual(assigned)
  })

  test('gives back the job that came behind the ERROR, which it has dropped', async () => {
    const { worker, assigned } = await waiting()
    worker.send('WORK_COMPLETE', 'H:test:1', '').send('GRAB_JOB')
    expect(await worker.receiveMany(2)).toEqual([noSuchJob, assigned])
    expect(await worker.ask('PRE_SLEEP')).toEqual(['NOOP'])
    expect(await worker.ask('GRAB_JOB')).toEqual(assigned)
  })

  test('keeps it where it has said something of it', async () => {
    const { worker, assigned } = await waiting()
    const [, handle = ''] = assigned
    worker.send('WORK_COMPLETE', 'H:test:1', '').send('GRAB_JOB')
    await worker.receiveMany(2)
    await worker.send('WORK_STATUS', handle, '1', '2').send('PRE_SLEEP').sync()
    expect(await redis('ZCARD', 'xg:busy:mail')).toBe('1')
    await worker.send('WORK_COMPLETE', handle, '').sync()
    expect(await redis('ZCARD', 'xg:busy:mail')).toBe('0')
  })
})
