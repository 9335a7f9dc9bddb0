import { once } from 'node:events'
import { connect } from 'node:net'
import { StoreError } from '@crossgear/core-scheduler'
import { expect, onTestFinished, test } from 'vitest'
import { doorHooks } from '../../src/operations/door-hooks.ts'
import { observeWith } from '../../src/operations/observe.ts'
import { Listener } from '../../src/doors/net/listener.ts'
import { Connection } from '../../src/doors/net/connection.ts'
import { LatestRefusal } from '../../src/operations/refused-writes.ts'
import { Metrics } from '../../src/operations/metrics/metrics.ts'
import { recordingLog } from '../support/recording-log.ts'

test('the log has each connection that an error of the gateway closed', async () => {
  const { log, lines } = recordingLog()
  const metrics = new Metrics()
  const observer = observeWith(metrics, log)
  const { dropped } = doorHooks('faktory', { metrics: metrics.door('faktory'), log, observer })
  const handler = {
    data: () => {
      throw new Error('there is a mistake')
    },
    work: () => 'none' as const,
    closed: () => undefined,
  }
  const listener = new Listener({
    host: '127.0.0.1',
    port: 0,
    portFlag: '--port',
    maxConnections: 10,
    connected: (socket) => {
      new Connection(socket, () => handler, {}, dropped)
    },
  })
  onTestFinished(() => listener.close())
  const { port } = await listener.listen()
  const socket = connect(port, '127.0.0.1').resume()
  socket.write('x')
  await once(socket, 'close')
  expect(lines).toEqual([
    'Rejected at the faktory port: error.',
    'A faktory connection: there is a mistake',
    'Error details.',
  ])
})

test('a reached limit is logged once, and again after a minute without refusals', () => {
  const { log, lines } = recordingLog()
  const metrics = new Metrics()
  let atMs = 0
  const { rejected } = doorHooks('gearman', {
    metrics: metrics.door('gearman'),
    log,
    observer: observeWith(metrics, log),
    nowMs: () => atMs,
  })
  const warnings = () => lines.filter((line) => line.startsWith('A limit'))
  for (let times = 0; times < 3; times += 1) rejected('connections', '10.0.0.1')
  rejected('queue_full')
  rejected('bad_magic')
  expect(warnings()).toEqual([
    'A limit of the gearman port is reached: the most connections are open (--max-connections). The first came from 10.0.0.1.',
    'A limit of the gearman port is reached: the queue of a function is full (text command maxqueue, or max_waiting of its route).',
  ])
  atMs = 59_999
  rejected('connections')
  atMs = 119_000
  rejected('connections')
  expect(warnings()).toHaveLength(2)
  atMs = 200_000
  rejected('connections')
  expect(warnings()).toHaveLength(3)
})

test('the log has one line for all doors and tasks that the store refuses, and the figures count each', () => {
  const { log, lines } = recordingLog()
  const metrics = new Metrics()
  const observer = observeWith(metrics, log)
  const full = new StoreError('REFUSED', 'OOM command not allowed')
  for (const door of ['faktory', 'gearman', 'http', 'web']) {
    const { rejected } = doorHooks(door, { metrics: metrics.door(door), log, observer })
    for (let refusals = 0; refusals < 3; refusals += 1) rejected('store', '10.0.0.1', full)
  }
  observer.error('a task of the gateway', full)
  expect(lines.filter((line) => line.startsWith('Rejected'))).toHaveLength(12)
  expect(lines.filter((line) => !line.startsWith('Rejected') && !/details/.test(line))).toEqual([
    'The store takes no writes (OOM command not allowed): raise its maxmemory, or let workers catch up.',
  ])
})

test('a store that refused a write a moment ago is not ready, though a smaller write is taken', () => {
  const { log } = recordingLog()
  const metrics = new Metrics()
  let atMs = 0
  const latestRefusal = new LatestRefusal(() => atMs)
  const { rejected } = doorHooks('gearman', {
    metrics: metrics.door('gearman'),
    log,
    latestRefusal,
    observer: observeWith(metrics, log),
  })
  rejected('store', undefined, new StoreError('REFUSED', 'NOPERM no permissions'))
  expect(() => latestRefusal.check()).not.toThrow()
  rejected('store', undefined, new StoreError('REFUSED', 'OOM command not allowed'))
  expect(() => latestRefusal.check()).toThrow('OOM command not allowed')
  atMs = 5_000
  expect(() => latestRefusal.check()).not.toThrow()
})
