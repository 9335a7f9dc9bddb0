import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { encodeRequest } from '@crossgear/gearman-codec'

/** Bytes that an attacker sends on one connection; says if it waits to be thrown out. */
export interface Attack {
  readonly name: string
  readonly door: 'gearman' | 'faktory' | 'web'
  readonly send: readonly (Buffer | string)[]
  /** `closed`: the gateway must end the connection. `left`: it stays open and silent. */
  readonly end: 'closed' | 'left'
}

const hello = 'HELLO {"v":2}\r\n'
const megabyte = Buffer.alloc(1024 * 1024, 'x')

function header(magic: string, code: number, length: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.write(magic, 'latin1')
  bytes.writeUInt32BE(code, 4)
  bytes.writeUInt32BE(length, 8)
  return bytes
}

/** Bytes that look random and are the same in every run. */
function noise(seed: number, length: number): Buffer {
  let state = seed
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    bytes[at] = state >>> 16
  }
  return bytes
}

const seeds = Array.from({ length: 20 }, (_, index) => index + 1)

export const attacks: readonly Attack[] = [
  ...seeds.flatMap((seed): Attack[] => [
    { name: `noise ${seed}`, door: 'gearman', send: [noise(seed, 20_000)], end: 'left' },
    { name: `noise ${seed}`, door: 'faktory', send: [noise(seed, 20_000)], end: 'closed' },
    {
      name: `noise ${seed} after HELLO`,
      door: 'faktory',
      send: [hello, noise(seed, 20_000)],
      end: 'left',
    },
  ]),
  { name: 'half a header', door: 'gearman', send: ['\0REQ\0\0'], end: 'left' },
  {
    name: 'half a packet',
    door: 'gearman',
    send: [encodeRequest('SUBMIT_JOB_BG', 'f', '', 'payload').subarray(0, 20)],
    end: 'left',
  },
  {
    name: 'a length of 4 GiB',
    door: 'gearman',
    send: [header('\0REQ', 7, 0xffffffff)],
    end: 'closed',
  },
  { name: 'a bad magic', door: 'gearman', send: [header('\0BAD', 7, 0)], end: 'closed' },
  {
    name: 'an unknown command',
    door: 'gearman',
    send: [header('\0REQ', 0x80000001, 0)],
    end: 'closed',
  },
  { name: 'no arguments', door: 'gearman', send: [header('\0REQ', 7, 0)], end: 'closed' },
  { name: 'an endless line', door: 'gearman', send: [Buffer.alloc(100_000, 'a')], end: 'closed' },
  { name: 'an endless first line', door: 'faktory', send: [megabyte], end: 'closed' },
  {
    name: 'an endless line',
    door: 'faktory',
    send: [hello, 'PUSH ', ...Array.from({ length: 20 }, () => megabyte)],
    end: 'closed',
  },
  { name: 'no HELLO', door: 'faktory', send: ['PUSH {}\r\n'], end: 'closed' },
  {
    name: 'a HELLO of wrong types',
    door: 'faktory',
    send: ['HELLO {"v":"x","wid":1}\r\n'],
    end: 'closed',
  },
  {
    name: 'deep nesting',
    door: 'faktory',
    send: [hello, `PUSH {"jid":"12345678","jobtype":"f","args":${'['.repeat(100_000)}\r\n`],
    end: 'left',
  },
  {
    name: 'a hundred thousand fields',
    door: 'faktory',
    send: [hello, `PUSH {${Array.from({ length: 100_000 }, (_, n) => `"f${n}":1`).join(',')}}\r\n`],
    end: 'left',
  },
  {
    name: 'invalid UTF-8',
    door: 'faktory',
    send: [hello, Buffer.from('PUSH {"jid":"\xff\xfe345678"}\r\n', 'latin1')],
    end: 'left',
  },
  {
    name: 'handles nobody gave out',
    door: 'gearman',
    send: ['H:x:1', 'H:x:zzzzzzzzzzzz:99999999999999999999', ''].map((handle) =>
      encodeRequest('WORK_COMPLETE', handle, 'done'),
    ),
    end: 'left',
  },
  {
    name: 'names that no function has',
    door: 'gearman',
    send: ['', 'f'.repeat(513), Buffer.from([0xff, 0xfe]), 'a\nb\t{c}:@'].map((name) =>
      encodeRequest('CAN_DO', name),
    ),
    end: 'left',
  },
  {
    name: 'an endless request',
    door: 'web',
    send: [`GET / HTTP/1.1\r\nx: ${'a'.repeat(200_000)}`],
    end: 'closed',
  },
  { name: 'no HTTP', door: 'web', send: [noise(1, 5_000), '\r\n\r\n'], end: 'closed' },
]

/** Carries an attack out; the returned socket is open still where the gateway tolerates it. */
export async function attack(port: number, { send, end }: Attack): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  socket.resume()
  for (const bytes of send) {
    if (!socket.destroyed)
      await new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
  }
  if (end === 'closed') await closed
  return socket
}
