import { encode } from '@msgpack/msgpack'
import fc from 'fast-check'
import type { StoreListener } from '@crossgear/core-scheduler'
import { describe, expect, test } from 'vitest'
import { framed } from '../../src/connection/frames.ts'
import { announced, happened, newsCame, relayed } from '../../src/connection/messages.ts'

/** Notes each call of a listener. */
function listening() {
  const calls: unknown[][] = []
  const listener = new Proxy({} as StoreListener, {
    get:
      (_none, name) =>
      (...args: unknown[]) =>
        calls.push([name, ...args]),
  })
  return { calls, listener }
}

/** The texts, numbers and bytes that a listener was told. */
function factsIn(told: unknown): unknown[] {
  if (typeof told !== 'object' || told === null || told instanceof Uint8Array) return [told]
  return Object.values(told).flatMap(factsIn)
}

function isSaidIn(message: Buffer, fact: unknown): boolean {
  if (typeof fact === 'number') return Number.isSafeInteger(fact)
  if (fact instanceof Uint8Array) return message.includes(Buffer.from(fact))
  return fact === undefined || (typeof fact === 'string' && message.toString().includes(fact))
}

/** Names with all that a message has between and behind its fields. */
const hostile = fc
  .array(
    fc.constantFrom('\0', '=', ',', '1', '99999999', '\n', '\t', 'v', 'é', '=4,1,1', ' ', '-1'),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(''))
const figure = fc.integer({ min: 0, max: 1e12 })

/** Each announcement: what is published, and what the listener is told. */
const announcements = {
  lane: 'laneAdded',
  unlane: 'laneDropped',
  wake: 'woken',
  room: 'roomMade',
} as const

describe('a message between nodes, whatever names are in it', () => {
  test.each(Object.entries(announcements))('%s tells of that name and number', (kind, call) => {
    fc.assert(
      fc.property(hostile, figure, (name, number) => {
        const { calls, listener } = listening()
        announced(listener, Buffer.from(framed(kind, name, String(number))))
        expect(calls).toEqual([[call, name, number]])
      }),
    )
  })

  test('closed, worker and news tell of that name', () => {
    fc.assert(
      fc.property(hostile, hostile, figure, (name, other, number) => {
        const { calls, listener } = listening()
        announced(listener, Buffer.from(framed('closed', name)))
        announced(listener, Buffer.from(framed('worker', name, 'settled', other)))
        announced(listener, Buffer.from(framed('worker', name, 'quiet')))
        newsCame(listener, Buffer.from(framed(name, String(number), other)), 'own')
        newsCame(listener, Buffer.from(framed(name, String(number), 'own')), 'own')
        expect(calls).toEqual([
          ['laneClosed', name],
          ['consumerNews', name, { settled: other }],
          ['consumerNews', name, 'quiet'],
          ['woken', name, number],
        ])
      }),
    )
  })

  test('an event of a job tells of that job and those bytes', () => {
    const of = (...fields: unknown[]) => Buffer.concat([Buffer.from('event\0'), encode(fields)])
    fc.assert(
      fc.property(hostile, figure, fc.uint8Array({ maxLength: 20 }), (lane, id, bytes) => {
        const { calls, listener } = listening()
        const data = Buffer.from(bytes)
        relayed(listener, of('data', lane, String(id), data))
        relayed(listener, of('ask', lane, String(id), Buffer.from('what')))
        const ends = [String(id), data]
        relayed(listener, Buffer.concat([Buffer.from('complete\0'), encode([lane, ends])]))
        expect(calls).toEqual([
          ['relayed', { lane, id }, { kind: 'data', data }],
          ['asked', lane, id, 'what'],
          ['relayed', { lane, id }, { kind: 'complete', output: data }],
        ])
      }),
    )
  })

  test('a number that is none is refused', () => {
    const none = fc.constantFrom(
      '',
      'NaN',
      '-1',
      '1.5',
      '1e3',
      ' 1',
      '0x1',
      '99999999999999999',
      'a',
    )
    fc.assert(
      fc.property(hostile, none, (name, number) => {
        const { calls, listener } = listening()
        for (const kind of Object.keys(announcements)) {
          announced(listener, Buffer.from(framed(kind, name, number)))
          announced(listener, Buffer.from(`${kind}\0v\0${number}`))
        }
        newsCame(listener, Buffer.from(framed(name, number, 'other')), 'own')
        for (const kind of ['create', 'start', 'finish'])
          happened(listener, name, `${kind}:${number}`)
        const event = encode(['data', name, number, Buffer.from('x')])
        relayed(listener, Buffer.concat([Buffer.from('event\0'), event]))
        relayed(listener, Buffer.from(`data\0v\0${number}\0x`))
        const ends = encode([name, [number, Buffer.from('x')]])
        relayed(listener, Buffer.concat([Buffer.from('complete\0'), ends]))
        expect(calls).toEqual([])
      }),
    )
  })

  test('bytes of any form tell of nothing, or of what they say', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const message = Buffer.from(bytes)
        for (const head of ['', 'event\0', 'complete\0', 'lane\0', 'data\0']) {
          const { calls, listener } = listening()
          const whole = Buffer.concat([Buffer.from(head), message])
          announced(listener, whole)
          relayed(listener, whole)
          newsCame(listener, whole, 'own')
          for (const [, ...told] of calls) {
            for (const fact of factsIn(told)) expect(isSaidIn(whole, fact)).toBe(true)
          }
        }
      }),
    )
  })
})

describe('a message of a former version', () => {
  test('is read, unless a name could be cut in another way', () => {
    const { calls, listener } = listening()
    announced(listener, Buffer.from('lane\0mail\x007'))
    announced(listener, Buffer.from('lane\0v\0x\x007'))
    announced(listener, Buffer.from('lane\0a\x005\x007'))
    announced(listener, Buffer.from('closed\0mail'))
    announced(listener, Buffer.from('pauses\0'))
    announced(listener, Buffer.from('worker\0w\0settled\0jid'))
    newsCame(listener, Buffer.from('mail\x003\0other'), 'own')
    relayed(listener, Buffer.from('data\0mail\x007\0a\0b'))
    expect(calls).toEqual([
      ['laneAdded', 'mail', 7],
      ['laneClosed', 'mail'],
      ['pausesChanged'],
      ['consumerNews', 'w', { settled: 'jid' }],
      ['woken', 'mail', 3],
      ['relayed', { lane: 'mail', id: 7 }, { kind: 'data', data: Buffer.from('a\0b') }],
    ])
  })

  test('of this one is read by it: the lengths stand behind all that it reads', () => {
    const [kind, lane, number] = framed('lane', 'mail', '7').split('\0')
    expect([kind, lane, Number(number)]).toEqual(['lane', 'mail', 7])
  })
})
