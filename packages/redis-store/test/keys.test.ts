import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { describe, expect, test } from 'vitest'
import { StoreKeys } from '../src/index.ts'

const lua = readFileSync(new URL('../lua/lib/keys.lua', import.meta.url), 'utf8')

/** Names in keys.lua of the keys in keys.ts. */
const twins: Readonly<Record<string, (keys: StoreKeys) => string>> = {
  "Keys.of('uid', lane)": (keys) => keys.uid('mail@bulk'),
  "Keys.job(lane, '7')": (keys) => keys.job('mail@bulk', 7),
  "Keys.queue(lane, 'high')": (keys) => keys.queue('mail@bulk', 'high'),
  "Keys.queue(lane, 'normal')": (keys) => keys.queue('mail@bulk', 'normal'),
  "Keys.queue(lane, 'low')": (keys) => keys.queue('mail@bulk', 'low'),
  "Keys.queue(lane, 'scheduled')": (keys) => keys.queue('mail@bulk', 'scheduled'),
  'Keys.channelOf(lane)': (keys) => keys.channel('mail@bulk'),
  "Keys.of('lock', lane) .. ':7'": (keys) => keys.lock('mail@bulk', 7),
  "Keys.of('count', lane)": (keys) => keys.count('mail@bulk'),
  'Keys.busy(lane)': (keys) => keys.busy('mail@bulk'),
  'Keys.dead(lane)': (keys) => keys.dead('mail@bulk'),
  'Keys.retries(lane)': (keys) => keys.retries('mail@bulk'),
  'Keys.bridged(lane)': (keys) => keys.bridged('mail@bulk'),
  "Keys.held('w w1')": (keys) => keys.held('w w1'),
  'Keys.unique(lane)': (keys) => keys.unique('mail@bulk'),
  'Keys.jid(lane)': (keys) => keys.jid('mail@bulk'),
  'Keys.uniqueLock(lane)': (keys) => keys.uniqueLock('mail@bulk'),
  'Keys.repairCandidates(lane)': (keys) => keys.repairCandidates('mail@bulk'),
  'Keys.line(lane)': (keys) => keys.line('mail@bulk'),
  'Keys.ticks(lane)': (keys) => keys.ticks('mail@bulk'),
  'Keys.turnHolders(lane)': (keys) => keys.turnHolders('mail@bulk'),
  'Keys.turnDue(lane)': (keys) => keys.turnDue('mail@bulk'),
  'Keys.turnWaiting(lane)': (keys) => keys.turnWaiting('mail@bulk'),
  'Keys.turnRunning(lane)': (keys) => keys.turnRunning('mail@bulk'),
  "Keys.turnStarts(lane, 'a:b')": (keys) => keys.turnStarts('mail@bulk', 'a:b'),
  'Keys.batchOutbox(lane)': (keys) => keys.batchOutbox('mail@bulk'),
  "Keys.joined(lane, 'n-1')": (keys) => keys.joined('mail@bulk', 'n-1'),
  'Keys.level(lane, 7)': (keys) => keys.level('mail@bulk', 7),
  'Keys.meta(lane)': (keys) => keys.meta('mail@bulk'),
  "Keys.ready('bulk')": (keys) => keys.ready('bulk'),
  "Keys.slots('bulk')": (keys) => keys.slots('bulk'),
  "Keys.slotWorkers('bulk')": (keys) => keys.slotWorkers('bulk'),
  "Keys.workerSlots('bulk')": (keys) => keys.workerSlots('bulk'),
  "Keys.rate('bulk')": (keys) => keys.rate('bulk'),
  "Keys.batch('b1')": (keys) => keys.batch('b1'),
  "Keys.input('n1', 3)": (keys) => keys.input('n1', 3),
  "Keys.nodeChannel('n1')": (keys) => keys.nodeChannel('n1'),
  'Keys.newsChannel(lane)': (keys) => keys.newsChannel('mail@bulk'),
  'Keys.due': (keys) => keys.due,
  'Keys.deadlines': (keys) => keys.deadlines,
  'Keys.jids(3)': (keys) => keys.jids(3),
  "Keys.ended('jid-0001')": (keys) => keys.ended('jid-0001'),
  'Keys.callbacks': (keys) => keys.callbacks,
  'Keys.joins': (keys) => keys.joins,
  'Keys.batches': (keys) => keys.batches,
  'Keys.lanes': (keys) => keys.lanes,
  'Keys.former': (keys) => keys.former,
  'Keys.totals': (keys) => keys.totals,
  'Keys.nodes': (keys) => keys.nodes,
  'Keys.deaths': (keys) => keys.deaths,
  'Keys.libraries': (keys) => keys.libraries,
  'Keys.eventsChannel': (keys) => keys.events,
}

test('in a cluster all keys of a lane have it as their hash tag', () => {
  const keys = new StoreKeys(true)
  for (const key of [keys.uid('mail'), keys.job('mail', 7), keys.busy('mail'), keys.meta('mail')]) {
    expect(/\{(.*?)\}/.exec(key)?.[1]).toBe('mail')
  }
})

test('every key of keys.lua has its twin here', () => {
  const functions = [
    ...lua.matchAll(/^function (Keys\.(?!of)\w+)\([^)]*\) return (?:Keys\.(?:of|broker)|'xg)/gm),
    ...lua.matchAll(/^function (Keys\.(?:job|queue|channelOf))\(/gm),
  ]
  const constants = [...lua.matchAll(/^ *((?:Keys\.\w+, )*Keys\.\w+) = (?:'xg|broker \.\.)/gm)]
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
    const script = `local database, Keys, Fields = 3, {}, {}\n${lua}\nKeys.begin(ARGV[1], ARGV[2])\nlocal lane = ARGV[3]\nreturn { ${Object.keys(twins).join(', ')} }`
    const written = await redis.eval(script, 0, keys.open, keys.close, 'mail@bulk')
    expect(written).toEqual(Object.values(twins).map((keyOf) => keyOf(keys)))
  })
})
