import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { describe, expect, test } from 'vitest'
import { StoreKeys } from '../src/index.ts'

const lua = readFileSync(new URL('../lua/lib/keys.lua', import.meta.url), 'utf8')

/** Names in keys.lua of the keys in keys.ts. */
const twins: Readonly<Record<string, (keys: StoreKeys) => string>> = {
  "laneKey('uid', lane)": (keys) => keys.uid('mail@bulk'),
  "jobKey(lane, '7')": (keys) => keys.job('mail@bulk', 7),
  "queueKey(lane, 'high')": (keys) => keys.queue('mail@bulk', 'high'),
  "queueKey(lane, 'normal')": (keys) => keys.queue('mail@bulk', 'normal'),
  "queueKey(lane, 'low')": (keys) => keys.queue('mail@bulk', 'low'),
  "queueKey(lane, 'scheduled')": (keys) => keys.queue('mail@bulk', 'scheduled'),
  'channelOf(lane)': (keys) => keys.channel('mail@bulk'),
  "laneKey('lock', lane) .. ':7'": (keys) => keys.lock('mail@bulk', 7),
  "laneKey('count', lane)": (keys) => keys.count('mail@bulk'),
  'busyKey(lane)': (keys) => keys.busy('mail@bulk'),
  'deadKey(lane)': (keys) => keys.dead('mail@bulk'),
  'retriesKey(lane)': (keys) => keys.retries('mail@bulk'),
  'bridgedKey(lane)': (keys) => keys.bridged('mail@bulk'),
  "heldKey('w w1')": (keys) => keys.held('w w1'),
  'uniqueKey(lane)': (keys) => keys.unique('mail@bulk'),
  'jidKey(lane)': (keys) => keys.jid('mail@bulk'),
  'uniqueLockKey(lane)': (keys) => keys.uniqueLock('mail@bulk'),
  'repairCandidatesKey(lane)': (keys) => keys.repairCandidates('mail@bulk'),
  'lineKey(lane)': (keys) => keys.line('mail@bulk'),
  'ticksKey(lane)': (keys) => keys.ticks('mail@bulk'),
  'turnHoldersKey(lane)': (keys) => keys.turnHolders('mail@bulk'),
  'turnDueKey(lane)': (keys) => keys.turnDue('mail@bulk'),
  'turnWaitingKey(lane)': (keys) => keys.turnWaiting('mail@bulk'),
  'turnRunningKey(lane)': (keys) => keys.turnRunning('mail@bulk'),
  "turnStartsKey(lane, 'a:b')": (keys) => keys.turnStarts('mail@bulk', 'a:b'),
  'batchOutboxKey(lane)': (keys) => keys.batchOutbox('mail@bulk'),
  "joinedKey(lane, 'n-1')": (keys) => keys.joined('mail@bulk', 'n-1'),
  'levelKey(lane, 7)': (keys) => keys.level('mail@bulk', 7),
  'metaKey(lane)': (keys) => keys.meta('mail@bulk'),
  "readyKey('bulk')": (keys) => keys.ready('bulk'),
  "slotsKey('bulk')": (keys) => keys.slots('bulk'),
  "slotWorkersKey('bulk')": (keys) => keys.slotWorkers('bulk'),
  "workerSlotsKey('bulk')": (keys) => keys.workerSlots('bulk'),
  "rateKey('bulk')": (keys) => keys.rate('bulk'),
  "batchKey('b1')": (keys) => keys.batch('b1'),
  "inputKey('n1', 3)": (keys) => keys.input('n1', 3),
  "nodeChannel('n1')": (keys) => keys.nodeChannel('n1'),
  'newsChannel(lane)': (keys) => keys.newsChannel('mail@bulk'),
  dueKey: (keys) => keys.due,
  deadlinesKey: (keys) => keys.deadlines,
  'jidsKey(3)': (keys) => keys.jids(3),
  "endedKey('jid-0001')": (keys) => keys.ended('jid-0001'),
  callbacksKey: (keys) => keys.callbacks,
  joinsKey: (keys) => keys.joins,
  batchesKey: (keys) => keys.batches,
  eventsChannel: (keys) => keys.events,
}

test('in a cluster all keys of a lane have it as their hash tag', () => {
  const keys = new StoreKeys(true)
  for (const key of [keys.uid('mail'), keys.job('mail', 7), keys.busy('mail'), keys.meta('mail')]) {
    expect(/\{(.*?)\}/.exec(key)?.[1]).toBe('mail')
  }
})

test('every key of keys.lua has its twin here', () => {
  const functions = [...lua.matchAll(/^local function (\w+(?:Key|Of|Channel))\(/gm)]
  const constants = [...lua.matchAll(/^local ((?:\w+, )*\w+) = (?:'xg|broker)/gm)]
  const names = [
    ...functions.map(([, name = '']) => name),
    ...constants.flatMap(([, some = '']) => some.split(', ')),
  ]
  expect(names.length).toBeGreaterThan(10)
  for (const name of names) {
    expect(
      Object.keys(twins).some((expression) => expression.startsWith(name)),
      name,
    ).toBe(true)
  }
})

describe.skipIf(lacksRedis)('with redis-server,', () => {
  let redis: Redis
  withRedisServer((server) => (redis = server.connect()))

  test.each([false, true])('keys.lua and keys.ts agree, in a cluster: %s', async (cluster) => {
    const keys = new StoreKeys(cluster, 3)
    const script = `local database = 3\n${lua}\nlocal lane = ARGV[3]\nreturn { ${Object.keys(twins).join(', ')} }`
    const written = await redis.eval(script, 0, keys.open, keys.close, 'mail@bulk')
    expect(written).toEqual(Object.values(twins).map((keyOf) => keyOf(keys)))
  })
})
