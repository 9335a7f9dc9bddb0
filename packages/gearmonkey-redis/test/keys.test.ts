import { expect, test } from 'vitest'
import { Keys } from '../src/index.ts'

test('the keys of the GearMonkey specification are built as it writes them', () => {
  const keys = new Keys()
  expect([
    keys.uid('mail'),
    keys.job('mail', 7),
    keys.queue('mail', 'high'),
    keys.queue('mail', 'scheduled'),
    keys.channel('mail'),
    keys.lock('mail', 7),
    keys.count('mail'),
  ]).toEqual([
    'uid:mail',
    'job:mail:7',
    'queue:mail:high',
    'queue:mail:scheduled',
    'channel:mail',
    'lock:mail:7',
    'count:mail',
  ])
})

test.each([false, true])('in a cluster (%s) a channel’s name leads back to its lane', (cluster) => {
  const keys = new Keys(cluster)
  for (const lane of ['mail', 'a:b', '{x}', '']) {
    expect(keys.laneOfChannel(keys.channel(lane))).toBe(lane)
  }
  expect(keys.laneOfChannel('xg:events:0')).toBeUndefined()
})

test.each([false, true])('in a cluster (%s) a job’s key leads back to lane and id', (cluster) => {
  const keys = new Keys(cluster)
  for (const lane of ['mail', 'a:b', '{x}', 'job:7', 'two\nlines']) {
    expect(keys.jobOf(keys.job(lane, 12))).toEqual({ lane, id: 12 })
  }
  for (const key of ['job:mail:x', 'xjob:mail:7', 'job:7']) expect(keys.jobOf(key)).toBeUndefined()
})
