import { describe, expect, test } from 'vitest'
import { formatHi, hashPassword, isSameHash, parseHello, verifyPassword } from '../src/index.ts'

/** Worked out apart from this package: SHA-256 of `foobar55104dc76695721d`, 1545 times. */
const golden = '6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30'

describe('formatHi', () => {
  test('is the greeting, byte for byte', () => {
    expect(formatHi().toString('latin1')).toBe('+HI {"v":2}\r\n')
    expect(formatHi({ iterations: 1735, salt: '123456789abc' }).toString('latin1')).toBe(
      '+HI {"v":2,"i":1735,"s":"123456789abc"}\r\n',
    )
  })
})

describe('parseHello', () => {
  test('a producer needs no fields', () => {
    expect(parseHello(Buffer.from('HELLO {}'))).toEqual({ labels: [], fields: new Map() })
    expect(parseHello(Buffer.from('HELLO {"v":2}'))).toMatchObject({ v: 2, labels: [] })
  })

  test('a consumer identifies itself', () => {
    const line =
      'HELLO {"hostname":"localhost","wid":"4qpc2443vpvai","pid":2676,"labels":["golang"],' +
      '"pwdhash":"ab","username":"me","v":2,"more":1.0}'
    const hello = parseHello(Buffer.from(line))
    expect(hello).toMatchObject({
      hostname: 'localhost',
      wid: '4qpc2443vpvai',
      pid: 2676,
      labels: ['golang'],
      pwdhash: 'ab',
      username: 'me',
      v: 2,
    })
    expect(hello.fields.get('more')).toBe('1.0')
  })

  test('empty and null fields are absent', () => {
    const hello = parseHello(Buffer.from('HELLO {"wid":"","labels":null,"pid":null,"v":null}'))
    expect(hello).toEqual({ labels: [], fields: expect.any(Map) })
  })

  test.each(['', 'HELLO', 'HELLO ', 'HELLO []', 'hello {}', 'HELLO  {}', 'PUSH {}', '\xff\x00'])(
    'the first line must be a HELLO with an object: %j',
    (line) => {
      expect(() => parseHello(Buffer.from(line, 'latin1'))).toThrow(
        expect.objectContaining({
          code: 'INVALID_HELLO',
          message: 'the first command must be HELLO {...}',
        }),
      )
    },
  )

  test.each([
    '{',
    '{}}',
    '{"v":"2"}',
    '{"v":-1}',
    '{"v":256}',
    '{"v":2.0}',
    '{"wid":1}',
    '{"hostname":[]}',
    '{"pid":"1"}',
    '{"labels":"a"}',
    '{"labels":[1]}',
    '{"pwdhash":1}',
    '{"username":{}}',
    '{"wid":"*\\u0000quiet"}',
    `{"wid":"${'x'.repeat(256)}"}`,
    `{"labels":["${'x'.repeat(256)}"]}`,
    `{"labels":[${'"",'.repeat(255)}""]}`,
  ])('bad JSON, a wrong type or a bound broken is INVALID_HELLO: %s', (json) => {
    expect(() => parseHello(Buffer.from(`HELLO ${json}`, 'latin1'))).toThrow(
      expect.objectContaining({
        code: 'INVALID_HELLO',
        message: expect.stringMatching(/^invalid HELLO: /),
      }),
    )
  })
})

describe('password hash', () => {
  test('is the hash that clients send', () => {
    expect(hashPassword('foobar', '55104dc76695721d', 1545)).toBe(golden)
  })

  test('one iteration hashes once', () => {
    expect(hashPassword('a', 'bc', 1)).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })

  test.each([0, -1, 1.5, NaN])('%d iterations are refused', (iterations) => {
    expect(() => hashPassword('a', 'b', iterations)).toThrow(RangeError)
  })

  test('only the right hash is accepted', () => {
    const verify = (given?: string) => verifyPassword(given, 'foobar', '55104dc76695721d', 1545)
    expect(verify(golden)).toBe(true)
    for (const wrong of [undefined, '', golden.slice(1), `${golden}0`, golden.toUpperCase()]) {
      expect(verify(wrong)).toBe(false)
    }
    expect(isSameHash(golden, golden)).toBe(true)
    expect(isSameHash(undefined, '')).toBe(false)
  })
})
