import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, Server, type ListenOptions, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Listener, type ListenerOptions } from '../../src/net/listener.ts'

/** The system's table of connections, with the timer of each. */
const table = '/proc/net/tcp'
const keepAliveTimer = 2
const ticksPerSecond = 100

async function listen(options: Partial<ListenerOptions> = {}): Promise<number> {
  const listener = new Listener({
    ...{ host: '127.0.0.1', port: 0, portFlag: '--port', maxConnections: 10 },
    connected: (socket) => socket.resume(),
    ...options,
  })
  onTestFinished(() => listener.close())
  return (await listener.listen()).port
}

/** The listening server's end of a connection on the port: its timer, and when that is due. */
function timerOf(port: number): { readonly timer: number; readonly seconds: number } | undefined {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync(table, 'utf8').split('\n')
  const fields = rows.map((row) => row.trim().split(/\s+/))
  const established = fields.find(
    ([, local = '', , state]) => local.endsWith(end) && state === '01',
  )
  const [, timer = '0', when = '0'] = /^(\w+):(\w+)$/.exec(established?.[5] ?? '') ?? []
  return established && { timer: Number(timer), seconds: parseInt(when, 16) / ticksPerSecond }
}

describe('a listening port', () => {
  test.skipIf(!existsSync(table) && table).each([
    [undefined, 60],
    [30_000_000, 30_000],
  ])('with keepAliveMs %s has TCP ask after %i s whether a peer lives', async (ms, seconds) => {
    const accepted = new Promise<Socket>((resolve) => {
      void listen({
        connected: resolve,
        ...(ms !== undefined && { sockets: { keepAliveMs: ms } }),
      }).then((port) => {
        const client = connect(port, '127.0.0.1')
        onTestFinished(() => void client.destroy())
      })
    })
    const { localPort = 0 } = await accepted
    const found = timerOf(localPort)
    expect(found?.timer).toBe(keepAliveTimer)
    expect(Math.round((found?.seconds ?? 0) / seconds)).toBe(1)
  })

  test.each([
    [undefined, 1024],
    [{ backlog: 7 }, 7],
  ])('with %j has a backlog of %i connections', async (sockets, backlog) => {
    const asked: unknown[] = []
    class Asked extends Server {
      override listen(...args: unknown[]): this {
        asked.push((args[0] as ListenOptions).backlog)
        return super.listen(...(args as [ListenOptions]))
      }
    }
    const server = (): Server => new Asked()
    await listen({ server, ...(sockets && { sockets }) })
    expect(asked).toEqual([backlog])
  })

  test('accepts no more connections than the limit, and counts opened and closed ones', async () => {
    const counted: string[] = []
    const port = await listen({
      maxConnections: 1,
      opened: () => counted.push('opened'),
      closed: () => counted.push('closed'),
      refuse: () => counted.push('refused'),
    })
    const [first, second] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
    second.on('error', () => undefined)
    await once(second, 'close')
    first.destroy()
    await expect.poll(() => counted).toEqual(['opened', 'refused', 'closed'])
  })
})

test('an address has a bounded number of connections, and room again when one ends', async () => {
  const refused: string[] = []
  const port = await listen({
    sockets: { maxPerAddress: 1 },
    connected: (socket) => void socket.resume().write('taken'),
    refuse: (socket, surplus) => refused.push(`${surplus} ${socket.remoteAddress ?? ''}`),
  })
  /** The client's answer: `taken`, or nothing before the end. */
  const open = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    onTestFinished(() => void socket.destroy())
    const heard = await Promise.race([
      once(socket, 'data').then(([data]) => String(data)),
      once(socket, 'close').then(() => ''),
    ])
    return { socket, heard }
  }
  const first = await open('127.0.0.1')
  expect([first.heard, (await open('127.0.0.1')).heard]).toEqual(['taken', ''])
  expect(refused).toEqual(['address_connections 127.0.0.1'])
  expect((await open('127.0.0.2')).heard).toBe('taken')
  first.socket.destroy()
  await expect.poll(async () => (await open('127.0.0.1')).heard).toBe('taken')
})
