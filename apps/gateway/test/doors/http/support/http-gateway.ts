import { Scheduler } from '@crossgear/core-scheduler'
import { RecordingObserver } from '@crossgear/tools/recording-observer'
import { onTestFinished } from 'vitest'
import { GearmanDoor } from '../../../../src/doors/gearman/gearman-door.ts'
import { HttpDoor, type HttpDoorOptions } from '../../../../src/doors/http/http-door.ts'
import { systemClock } from '../../../../src/doors/net/clock.ts'
import { GearmanPeer } from '../../gearman/support/gearman-peer.ts'
import { openStoreInProcess, type StoreInProcess } from '../../../support/store-in-process.ts'

export interface HttpGateway {
  readonly server: StoreInProcess
  readonly scheduler: Scheduler
  readonly observer: RecordingObserver
  readonly door: HttpDoor
  readonly port: number
  readonly rejections: readonly string[]
  /** A Gearman connection that can do these functions. */
  readonly worker: (...functions: readonly string[]) => Promise<GearmanPeer>
}

/** An HTTP door, with a Gearman door for the workers, on a store inside this process. Ends with the test. */
export async function openHttp(options: Partial<HttpDoorOptions> = {}): Promise<HttpGateway> {
  const server = await openStoreInProcess()
  const observer = new RecordingObserver()
  const scheduler = new Scheduler(server.store, systemClock, observer)
  await scheduler.start()
  const rejections: string[] = []
  const common = {
    scheduler,
    host: '127.0.0.1',
    port: 0,
    handlePrefix: 'H:test',
    version: '0.1.0',
    maxConnections: 100,
  }
  const door = new HttpDoor({
    ...common,
    rejected: (reason) => void rejections.push(reason),
    ...options,
  })
  const workers = new GearmanDoor(common)
  const [{ port }, { port: workerPort }] = [await door.listen(), await workers.listen()]
  onTestFinished(async () => {
    await door.close()
    await workers.close()
    await scheduler.stop().catch(() => undefined)
  })
  return {
    server,
    scheduler,
    observer,
    door,
    port,
    rejections,
    worker: async (...functions) => {
      const peer = await GearmanPeer.connect(workerPort)
      onTestFinished(() => peer.leave())
      for (const fn of functions) peer.send('CAN_DO', fn)
      return peer
    },
  }
}

/** Takes the next job, waiting for one; returns its handle, function, unique id and data. */
export async function nextJob(worker: GearmanPeer): Promise<readonly string[]> {
  for (;;) {
    const [name, ...job] = await worker.ask('GRAB_JOB_UNIQ')
    if (name === 'JOB_ASSIGN_UNIQ') return job
    const [woken] = await worker.ask('PRE_SLEEP')
    if (woken !== 'NOOP') throw new Error(`heard ${woken ?? 'nothing'} and no NOOP`)
  }
}
