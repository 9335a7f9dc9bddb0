import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { encodeRequest } from '@crossgear/gearman-codec'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { attack, attacks } from './attacks.ts'
import { startVictim, type Victim } from './victim.ts'

/** Memory limit under attack. An idle gateway has about 100 MB. */
const maxMegabytes = 400
/** Below those that a system gives away: to search for a free one takes it milliseconds, once most are taken. */
const firstLocalPort = 20_000

describe.skipIf(lacksRedis)('hostile input', () => {
  let victim: Victim
  const sockets: Socket[] = []

  beforeAll(async () => {
    const small = ['--max-packet-bytes', '8000000', '--max-unsent-bytes', '4000000']
    victim = await startVictim(...small)
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })
  afterAll(() => victim.close())

  async function stands(): Promise<void> {
    await victim.served()
    expect(victim.residentMegabytes()).toBeLessThan(maxMegabytes)
    await expect.poll(() => victim.violations()).toEqual([])
  }

  test.each(attacks)('%s at the %s door costs its own connection at most', async (...each) => {
    sockets.push(await attack(victim.ports[each[1]], each))
    await stands()
  })

  test('a peer that submits and never reads is throttled, and no job is lost', async () => {
    const socket = connect(victim.ports.gearman, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.pause()
    const echoes = Buffer.concat(
      Array.from({ length: 100 }, () => encodeRequest('ECHO_REQ', Buffer.alloc(100_000))),
    )
    // The gateway reads no further once its answers pile up, so most of this is never taken.
    for (let round = 0; round < 20; round += 1) socket.write(echoes)
    for (let round = 0; round < 20; round += 1) await victim.served()
    await stands()
    expect(socket.writableLength).toBeGreaterThan(0)
  })

  test('a hundred thousand requests without reading an answer are answered in the end', async () => {
    const socket = connect(victim.ports.gearman, '127.0.0.1')
    sockets.push(socket)
    const requests = 100_000
    const one = encodeRequest('ECHO_REQ', '')
    socket.write(Buffer.concat(Array.from({ length: requests }, () => one)))
    await victim.served()
    let bytes = 0
    for await (const chunk of socket) {
      bytes += (chunk as Buffer).length
      if (bytes === requests * one.length) break
    }
    expect(bytes).toBe(requests * one.length)
    await stands()
  })

  test('ten thousand connections opened and left leave room for others', async () => {
    const idle = await Promise.all(
      Array.from({ length: 10_000 }, async (_, at) => {
        // As many as one address may have: those of others are served.
        const from = { localAddress: '127.0.0.2', localPort: firstLocalPort + at }
        const socket = connect({ port: victim.ports.gearman, host: '127.0.0.1', ...from })
        sockets.push(socket)
        await once(socket, 'connect')
        return socket
      }),
    )
    expect(idle).toHaveLength(10_000)
    await stands()
  })
})
