import { GearMonkeyClient, GearMonkeyWorker } from '@crossgear/gearmonkey-redis'
import type { ClientDoor } from './clients.ts'
import { workOutput, type WorkerDoor } from './workers.ts'

/** The public client of the GearMonkey package. */
export const libraryClient: ClientDoor = {
  name: 'GearMonkeyClient',
  canSend: () => true,
  async background({ storeUrl }, fn, payload) {
    const client = new GearMonkeyClient(storeUrl)
    await client.run(fn, payload).finally(() => client.close())
  },
  async foreground({ storeUrl }, fn, payload) {
    const client = new GearMonkeyClient(storeUrl)
    try {
      const id = await client.run(fn, payload, { blocking: true, timeoutSeconds: 10 })
      const { status, output = Buffer.alloc(0) } = (await client.get(fn, id)) ?? {}
      return { succeeded: status === 'success', output }
    } finally {
      client.close()
    }
  },
}

/** The public worker of the GearMonkey package. */
export const libraryWorker: WorkerDoor = {
  name: 'GearMonkeyWorker',
  async start({ storeUrl }, fn, work) {
    const received: Buffer[] = []
    const worker = new GearMonkeyWorker(storeUrl, { concurrency: 2 })
    await worker.accept(fn, ({ input }) => {
      received.push(input)
      if (work === 'fail') throw new Error('told to fail')
      return workOutput
    })
    return { received: () => received, stop: () => worker.stop() }
  },
}
