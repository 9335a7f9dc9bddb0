import { packetTypes } from '@crossgear/gearman-codec'
import type { Case, Step } from '../script.ts'

const header = (magic: string, code: number, length: number): Buffer => {
  const bytes = Buffer.from(`${magic}\0\0\0\0\0\0\0\0`, 'latin1')
  bytes.writeUInt32BE(code, 4)
  bytes.writeUInt32BE(length, 8)
  return bytes
}

const notForServers = [
  'UNUSED',
  'NOOP',
  'JOB_CREATED',
  'NO_JOB',
  'JOB_ASSIGN',
  'ECHO_RES',
  'ERROR',
  'STATUS_RES',
  'ALL_YOURS',
  'OPTION_RES',
  'JOB_ASSIGN_UNIQ',
  'JOB_ASSIGN_ALL',
  'STATUS_RES_UNIQUE',
]

/** Each packet type that no server expects, as a request: refused, and the connection lives on. */
const unexpected: readonly Case[] = packetTypes
  .filter(({ name }) => notForServers.includes(name))
  .map(({ name, args }) => ({
    name: `the request ${name}, which is not for a server`,
    steps: [
      ['client', name, ...args],
      ['client', 'ECHO_REQ', 'still here'],
    ],
  }))

/** Each packet type with the magic of a server. */
const wrongMagic: readonly Case[] = packetTypes.map(({ name, args }) => ({
  name: `${name} with the magic of a server`,
  steps: [
    ['client', 'as server', name, ...args],
    ['client', 'ECHO_REQ', 'still here'],
    ['admin', 'text', 'status'],
  ],
}))

/** Each packet type of several arguments, with one byte in the place of all of them. */
const short: Case = {
  name: 'packets that are shorter than their arguments',
  steps: packetTypes
    .filter(({ args }) => args.length > 1)
    .flatMap(({ code, name }): Step[] => [
      [`client-${name}`, 'part', oneByte(code)],
      ['other', 'ECHO_REQ', name],
    ]),
}

function oneByte(code: number): Buffer {
  return Buffer.concat([header('\0REQ', code, 1), Buffer.from('x')])
}

const badHeaders: readonly (readonly [string, string | Buffer])[] = [
  ['a NUL and no magic', '\0\0\0\0\0\0\0\x10\0\0\0\0'],
  ['a magic in small letters', header('\0req', 16, 0)],
  ['a magic of another protocol', header('\0REX', 16, 0)],
  ['command 0', header('\0REQ', 0, 0)],
  ['command 43', header('\0REQ', 43, 0)],
  ['command 1000', header('\0REQ', 1000, 0)],
  ['command 0x7fffffff', header('\0REQ', 0x7fffffff, 0)],
  ['command 0x80000000', header('\0REQ', 0x80000000, 0)],
  ['command 0 with the magic of a server', header('\0RES', 0, 0)],
  ['command 43 with the magic of a server', header('\0RES', 43, 0)],
  ['half a magic, then another', Buffer.concat([Buffer.from('\0RE'), header('\0REQ', 16, 0)])],
  ['an echo before command 43', Buffer.concat([echo('x'), header('\0REQ', 43, 0)])],
]

function echo(data: string): Buffer {
  return Buffer.concat([header('\0REQ', 16, data.length), Buffer.from(data)])
}

const bad: readonly Case[] = badHeaders.map(([what, bytes]) => ({
  name: `${what} ends the connection`,
  steps: [
    ['other', 'open'],
    ['client', 'raw', bytes],
    ['other', 'ECHO_REQ', 'the server is there'],
    ['admin', 'text', 'version'],
  ],
}))

/** Headers that announce more than comes; others are served meanwhile. */
const announced: Case = {
  name: 'packets that are said to be larger than 64 MiB',
  steps: [
    ...[65 * 1024 * 1024, 0x7fffffff, 0xffffffff].flatMap((length): Step[] => [
      [`client-${length}`, 'part', Buffer.concat([header('\0REQ', 16, length), Buffer.from('x')])],
      ['other', 'ECHO_REQ', 'the server is there'],
    ]),
    ['admin', 'text', 'version'],
  ],
}

/** Bytes of other protocols, and of none. */
const foreign: readonly Case[] = (
  [
    ['an HTTP request', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a Redis command', '*1\r\n$4\r\nPING\r\n'],
    ['a Faktory command', 'HELLO {"v":2}\r\n'],
    ['lines of nothing', '\n\r\n\n'],
    ['the end of a packet', 'mail\0u\0data\n'],
  ] as const
).map(([what, bytes]) => ({
  name: `${what} in the place of a packet`,
  steps: [
    ['other', 'open'],
    ['client', 'raw', bytes],
    ['other', 'ECHO_REQ', 'the server is there'],
    ['client', 'ECHO_REQ', 'still here'],
  ],
}))

const greeting: Case = {
  name: 'a TLS greeting in the place of a packet',
  steps: [
    ['client', 'part', Buffer.from('16030100c8010000c40303', 'hex')],
    ['other', 'ECHO_REQ', 'the server is there'],
  ],
}

const surplus: readonly Case[] = packetTypes
  .filter(({ args, name }) => args.length === 0 && !notForServers.includes(name))
  .map(({ name, code }) => ({
    name: `${name} with an argument that it does not take`,
    steps: [
      ['client', 'raw', Buffer.concat([header('\0REQ', code, 3), Buffer.from('abc')])],
      ['other', 'ECHO_REQ', 'the server is there'],
      ['client', 'ECHO_REQ', 'still here'],
    ],
  }))

export const packetCases: readonly Case[] = [
  ...unexpected,
  ...wrongMagic,
  short,
  ...bad,
  announced,
  ...foreign,
  greeting,
  ...surplus,
]
