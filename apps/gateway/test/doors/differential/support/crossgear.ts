import { setImmediate } from 'node:timers/promises'
import { Scheduler } from '@crossgear/core-scheduler'
import { RecordingObserver } from '@crossgear/tools/recording-observer'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { RedisStore } from '@crossgear/redis-store'
import type { RedisServer } from '@crossgear/tools/redis-server'
import { expect } from 'vitest'
import { gearmandVersions } from '../../../../src/doors/gearman/gearmand-version.ts'
import { GearmanDoor } from '../../../../src/doors/gearman/gearman-door.ts'
import { HttpDoor } from '../../../../src/doors/http/http-door.ts'
import type { Flags } from '../script.ts'
import { Calls } from './calls.ts'
import { handlePrefix, type Server } from './server.ts'
import { StepClock } from './step-clock.ts'

/** Turns of the event loop in which nothing is under way before a node is said to rest. */
const turnsOfRest = 3

/** Crossgear's Gearman door on an empty store, once or twice. */
export async function startCrossgear(
  redis: RedisServer,
  nodeCount: number,
  flags: Flags,
): Promise<Server> {
  const connection = redis.connect()
  await connection.flushall()
  const nodes = [await startNode(redis, flags)]
  while (nodes.length < nodeCount) nodes.push(await startNode(redis, flags))
  return {
    ports: nodes.map(({ port }) => port),
    httpPort: nodes[0]?.httpPort ?? 0,
    isPrompt: nodeCount === 1,
    async rest() {
      for (const node of nodes) await node.rest()
    },
    letTimePass() {
      for (const { clock } of nodes) clock.flow()
    },
    async stop() {
      for (const node of nodes) await node.stop()
      expect(await checkInvariants(connection), 'what is wrong in the store').toEqual([])
      connection.disconnect()
      expect(nodes.flatMap(({ troubles }) => troubles)).toEqual([])
    },
  }
}

async function startNode(redis: RedisServer, flags: Flags) {
  const observer = new RecordingObserver()
  const behaviour = gearmandVersions[flags.version ?? '1.1']
  const store = new RedisStore({ path: redis.path })
  await store.open()
  const clock = new StepClock()
  const calls = new Calls()
  const scheduler = new Scheduler(calls.counting(store), clock, observer, {
    wakeups: flags.wakeup ?? 0,
    maxLosses: flags.retries === 0 && behaviour.zeroRetriesMeansNone ? 1 : (flags.retries ?? 0),
    functionOrder: behaviour.functionOrder,
  })
  await scheduler.start()
  const common = {
    scheduler,
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    handlePrefix,
    version: '0.1.0',
  }
  const door = new GearmanDoor({
    ...common,
    exceptionsForAll: flags.exceptions ?? false,
    roundRobin: flags.roundRobin || behaviour.alwaysInTurn,
  })
  const { port } = await door.listen()
  const web = flags.http && new HttpDoor(common)
  const httpPort = (await web?.listen())?.port ?? 0
  return {
    port,
    httpPort,
    clock,
    get troubles() {
      return observer.errors
    },
    async rest() {
      let quietTurns = 0
      while (quietTurns < turnsOfRest) {
        await setImmediate()
        quietTurns = clock.isAtRest && calls.isAtRest ? quietTurns + 1 : 0
      }
    },
    async stop() {
      await door.close()
      await web?.close()
      await scheduler.stop()
      await store.close()
    },
  }
}
