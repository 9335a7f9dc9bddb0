import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Descriptors } from '../../../src/doors/net/descriptors.ts'
import { Listener, type ListenerOptions } from '../../../src/doors/net/listener.ts'

async function listen(options: Partial<ListenerOptions> = {}): Promise<number> {
  const listener = new Listener({
    host: '127.0.0.1',
    port: 0,
    portFlag: '--port',
    maxConnections: 10,
    connected: (socket) => socket.resume(),
    ...options,
  })
  onTestFinished(() => listener.close())
  return (await listener.listen()).port
}

test('a listening port accepts no more connections than the limit, and counts opened and closed ones', async () => {
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

test('ports share the file descriptors of the process: one more connection is refused, until one of any port ends', async () => {
  const refused: string[] = []
  const sockets = { descriptors: new Descriptors(2) }
  const ports = [
    await listen({ sockets }),
    await listen({ sockets, refuse: (_, why) => refused.push(why) }),
  ]
  const [first, second] = [connect(ports[0] ?? 0, '127.0.0.1'), connect(ports[0] ?? 0, '127.0.0.1')]
  await Promise.all([once(first, 'connect'), once(second, 'connect')])
  await expect.poll(() => sockets.descriptors.isEmpty).toBe(true)
  const surplus = connect(ports[1] ?? 0, '127.0.0.1')
  await once(surplus, 'close')
  expect(refused).toEqual(['file_descriptors'])
  first.destroy()
  await expect.poll(() => sockets.descriptors.isEmpty).toBe(false)
  const welcome = connect(ports[1] ?? 0, '127.0.0.1')
  await once(welcome, 'connect')
  await expect.poll(() => sockets.descriptors.isEmpty).toBe(true)
  expect(refused).toHaveLength(1)
  for (const socket of [second, welcome]) socket.destroy()
})
