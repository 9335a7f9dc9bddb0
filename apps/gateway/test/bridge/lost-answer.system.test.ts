import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import { startGateway } from '../support/gateway-process.ts'
import { Fleet } from './support/fleet.ts'
import { submitByHand } from './support/gearman-by-hand.ts'
import { portOfTest } from '../support/port-of-test.ts'

/** A way to the store that keeps its answers back from `hold` on. */
async function slowWay(path: string) {
  const stores = new Set<Socket>()
  const server = createServer((gateway) => {
    const store = connect(path)
    stores.add(store)
    gateway.pipe(store)
    store.pipe(gateway)
    for (const socket of [gateway, store]) socket.on('error', () => undefined)
    gateway.on('close', () => store.destroy())
  })
  return {
    url: `redis://127.0.0.1:${await portOfTest(server)}`,
    hold: () => stores.forEach((store) => void store.unpipe()),
  }
}

describe.skipIf(lacksRedis)('a gateway that is killed before the store answers its FETCH', () => {
  test('holds another door’s job for seconds, not for its reserve_for', async () => {
    const fleet = await Fleet.start()
    onTestFinished(() => fleet.close())
    const left = await fleet.node()
    const way = await slowWay(fleet.server.path)
    const ports = ['--gearman-port', 'off', '--faktory-port', '0', '--web-port', 'off']
    const { child, ready, exited } = startGateway(['serve', ...ports, '--redis-url', way.url])
    const consumer = await FwpClient.ofTest((await ready).port('faktory'), { wid: 'waiting' })
    // From the first job on its gateway knows the function.
    await submitByHand(left.gearman, 'mail', Buffer.from('[1]'), true)
    const { jid } = await consumer.askJson('FETCH default')
    expect(await consumer.ask(`ACK {"jid":"${String(jid)}"}`)).toBe('+OK')
    await submitByHand(left.gearman, 'mail', Buffer.from('[2]'), true)
    way.hold()
    consumer.send('FETCH default')
    await expect.poll(() => fleet.redis.zcard('xg:busy:mail')).toBe(1)
    child.kill('SIGKILL')
    await exited
    expect(await fleet.redis.exists('xg:held:wwaiting')).toBe(0)
    await expect.poll(() => fleet.redis.hget('job:mail:2', 'status')).toBe('idle')
    const next = await left.client({ wid: 'next' })
    expect(await next.askJson('FETCH default')).toMatchObject({ args: [2] })
  })
})
