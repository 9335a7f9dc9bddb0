import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { caughtUp, clusterStore, sentinelStore } from './support/replicated-store.ts'
import { TroubledGateway } from './support/troubled-gateway.ts'

const laneKey = 'queue:{mail}:normal'
const brokerKey = '{xg}:lanes'

const places = [
  ['the master of Sentinels', 'killed', sentinelStore],
  ['the master of Sentinels', 'frozen', sentinelStore],
  ['the master of a function in a cluster', 'killed', () => clusterStore(laneKey)],
  ['the master of a function in a cluster', 'frozen', () => clusterStore(laneKey)],
  ['the master of the broker’s own keys in a cluster', 'killed', () => clusterStore(brokerKey)],
] as const

/** In a door's words: the server is away, stands still, or the others of its cluster do without it. */
const refusal = /^-ERR the job store (cannot be reached|does not answer|refused: CLUSTERDOWN)/
const reason = /^store (UNREACHABLE|TIMEOUT|REFUSED): (?!Stream)|^the store gave no answer/

describe.skipIf(lacksRedis)('with redis-server, a gateway', () => {
  test.each(places)(
    'answers with errors while %s is %s, and continues with the replica, over the same connections',
    async (_where, how, start) => {
      const store = await start()
      const gateway = await TroubledGateway.open(store)
      const [client, worker] = [await gateway.peer(), await gateway.peer('slow')]
      const handle = await client.submit('SUBMIT_JOB', 'slow', '', '')
      expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'slow', ''])
      await caughtUp(store)

      if (how === 'killed') await store.master.kill()
      else store.master.freeze()
      // Another function's server takes its jobs until the others of the cluster miss one.
      await vi.waitFor(() => gateway.refusesJobs(refusal, reason), soon)
      await gateway.givesNoJobs()

      await store.succeed()
      await vi.waitFor(() => gateway.takesJobs(), soon)
      await gateway.runsJobs()
      worker.send('WORK_COMPLETE', handle, 'done')
      expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])

      if (how === 'killed') await store.master.start()
      else store.thaw()
      await gateway.takesJobs()
      await gateway.runsJobs()
    },
  )
})
