import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { encodeRequest } from '@crossgear/gearman-codec'

type Bytes = Buffer | string

/**
 * Bytes that an attacker sends on one connection. `closed`: the gateway must end it. `left`: it stays open and silent.
 */
export type Attack = readonly [
  name: string,
  door: 'gearman' | 'faktory' | 'web',
  end: 'closed' | 'left',
  send: readonly Bytes[],
]

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

const submission = encodeRequest('SUBMIT_JOB_BG', 'f', '', 'payload')
const strangeHandles = ['H:x:1', 'H:x:zzzzzzzzzzzz:99999999999999999999', ''].map((handle) =>
  encodeRequest('WORK_COMPLETE', handle, 'done'),
)
const strangeNames = ['', 'f'.repeat(513), Buffer.from([0xff, 0xfe]), 'a\nb\t{c}:@'].map((name) =>
  encodeRequest('CAN_DO', name),
)
const deep = `PUSH {"jid":"12345678","jobtype":"f","args":${'['.repeat(100_000)}\r\n`
const noUtf8 = Buffer.from('PUSH {"jid":"\xff\xfe345678"}\r\n', 'latin1')
const fields = Array.from({ length: 100_000 }, (_none, n) => `"f${n}":1`)

const seeds = Array.from({ length: 20 }, (_, index) => index + 1)

export const attacks: readonly Attack[] = [
  ...seeds.flatMap((seed): Attack[] => [
    [`noise ${seed}`, 'gearman', 'left', [noise(seed, 20_000)]],
    [`noise ${seed}`, 'faktory', 'closed', [noise(seed, 20_000)]],
    [`noise ${seed} after HELLO`, 'faktory', 'left', [hello, noise(seed, 20_000)]],
  ]),
  ['half a header', 'gearman', 'left', ['\0REQ\0\0']],
  ['half a packet', 'gearman', 'left', [submission.subarray(0, 20)]],
  ['a length of 4 GiB', 'gearman', 'closed', [header('\0REQ', 7, 0xffffffff)]],
  ['a bad magic', 'gearman', 'closed', [header('\0BAD', 7, 0)]],
  ['an unknown command', 'gearman', 'closed', [header('\0REQ', 0x80000001, 0)]],
  ['no arguments', 'gearman', 'closed', [header('\0REQ', 7, 0)]],
  ['an endless line', 'gearman', 'closed', [Buffer.alloc(100_000, 'a')]],
  ['an endless first line', 'faktory', 'closed', [megabyte]],
  ['an endless line', 'faktory', 'closed', [hello, 'PUSH ', ...Array<Buffer>(20).fill(megabyte)]],
  ['no HELLO', 'faktory', 'closed', ['PUSH {}\r\n']],
  ['a HELLO of wrong types', 'faktory', 'closed', ['HELLO {"v":"x","wid":1}\r\n']],
  ['deep nesting', 'faktory', 'left', [hello, deep]],
  ['a hundred thousand fields', 'faktory', 'left', [hello, `PUSH {${fields.join(',')}}\r\n`]],
  ['invalid UTF-8', 'faktory', 'left', [hello, noUtf8]],
  ['handles nobody gave out', 'gearman', 'left', strangeHandles],
  ['names that no function has', 'gearman', 'left', strangeNames],
  ['an endless request', 'web', 'closed', [`GET / HTTP/1.1\r\nx: ${'a'.repeat(200_000)}`]],
  ['no HTTP', 'web', 'closed', [noise(1, 5_000), '\r\n\r\n']],
]

/** Carries an attack out; the returned socket is open still where the gateway tolerates it. */
export async function attack(port: number, [, , end, send]: Attack): Promise<Socket> {
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
