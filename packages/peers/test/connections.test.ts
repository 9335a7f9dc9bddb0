import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { encodeResponse } from '@crossgear/gearman-codec'
import { bulk, formatHi, hashPassword, okReply } from '@crossgear/fwp-codec'
import { afterEach, expect, test } from 'vitest'
import { FaktoryConnection, FaktoryRefusal, GearmanConnection } from '../src/index.ts'

let server: Server | undefined
afterEach(() => server?.close())

/** A server that does this with its connections; its port. */
async function serving(serve: (socket: Socket) => void): Promise<{ readonly port: number }> {
  server = createServer(serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address() as AddressInfo
}

test('a server that is awaited and silent for too long is gone', async () => {
  const client = await GearmanConnection.open(await serving(() => undefined), 1_000)
  await expect(client.packet()).rejects.toThrow('no answer in 1 s')
  await client.over
  expect(client.isOver).toBe(true)
})

test('what came before the end is still read', async () => {
  const created = encodeResponse('JOB_CREATED', 'H:1')
  const client = await GearmanConnection.open(await serving((socket) => socket.end(created)))
  await client.over
  expect((await client.expect('JOB_CREATED')).args.map(String)).toEqual(['H:1'])
  await expect(client.packet()).rejects.toThrow('the connection was closed')
})

test('bytes of another protocol end the connection', async () => {
  const client = await GearmanConnection.open(
    await serving((socket) => socket.write('\0HTTP/1.1 200')),
  )
  await expect(client.packet()).rejects.toThrow('magic')
})

test('an ERROR is thrown with its code and text', async () => {
  const error = encodeResponse('ERROR', 'ERR_X', 'no')
  const client = await GearmanConnection.open(await serving((socket) => socket.write(error)))
  await expect(client.packet()).rejects.toThrow('the server says ERR_X: no')
  client.close()
})

test('a password is hashed as the server wants it, and a refusal leaves the connection open', async () => {
  const heard: string[] = []
  const answers = [okReply, Buffer.from('-ERR no such job\r\n'), bulk('{"jid":"j"}'), bulk(null)]
  const login = await serving((socket) => {
    socket.write(formatHi({ iterations: 3, salt: 'salt' }))
    socket.on('data', (chunk) => {
      heard.push(chunk.toString())
      socket.write(answers.shift() ?? okReply)
    })
  })
  const client = await FaktoryConnection.open({
    ...login,
    password: 'secret',
    wid: 'w',
    name: 'me',
  })
  await expect(client.ask('ACK', { jid: 'x' })).rejects.toThrow(FaktoryRefusal)
  expect(String(await client.ask('FETCH', 'a b'))).toBe('{"jid":"j"}')
  expect(await client.ask('FETCH')).toBeNull()
  await client.end()
  const [hello = '', ...others] = heard
  expect(JSON.parse(hello.slice('HELLO '.length))).toEqual({
    v: 2,
    wid: 'w',
    hostname: 'me',
    pid: process.pid,
    labels: ['me'],
    pwdhash: hashPassword('secret', 'salt', 3),
  })
  expect(others).toEqual(['ACK {"jid":"x"}\r\n', 'FETCH a b\r\n', 'FETCH\r\n', 'END\r\n'])
})
