import type { NewJob } from '@crossgear/core-scheduler'
import { describe, expect, test } from 'vitest'
import { isTurnKey, maxSearchedBytes, turnKeyOf } from '../../src/bridge/turn-key.ts'

const base = { level: 5, foreground: false } as const
const gearman = (input: string, unique = ''): NewJob => ({
  ...base,
  door: 'gearman',
  input: Buffer.from(input),
  ...(unique !== '' && { unique: Buffer.from(unique) }),
})
const faktory = (args: string, envelope: string): NewJob => ({
  ...base,
  door: 'faktory',
  input: Buffer.from(args),
  envelope,
})
const valueOf = (per: string, job: NewJob): string | undefined => turnKeyOf(per)(job, 'auto')

describe('the key by which jobs take turns', () => {
  test.each([
    ['custom.tenant', faktory('[1]', '{"custom":{"tenant":"a"}}'), 'a'],
    ['queue', faktory('[1]', '{"queue":"bulk"}'), 'bulk'],
    ['args.0.tenant', faktory('{"tenant":7}', '{}'), '7'],
    ['args.1', faktory('[1,true]', '{}'), 'true'],
    ['tenant', gearman('{"tenant":"b"}'), 'b'],
    ['args.0.tenant', gearman('{"tenant":"b"}'), 'b'],
    ['args.0', gearman('plain text'), 'plain text'],
    ['tenant', gearman('{"tenant":9007199254740992}'), '9007199254740992'],
    ['tenant', gearman('{"tenant":9007199254740993}'), '9007199254740993'],
    [
      'custom.tenant',
      faktory('[1]', '{"custom":{"tenant":-90071992547409931}}'),
      '-90071992547409931',
    ],
    [
      'args.1',
      faktory('["\\"12345678901234567890",0.12345678901234567]', '{}'),
      '0.12345678901234567',
    ],
    ['unique-prefix::', gearman('', 'acme:1:2'), 'acme'],
    ['unique-prefix:--', gearman('', 'acme--1'), 'acme'],
  ])('%s of a job is read', (per, job, value) => {
    expect(isTurnKey(per)).toBe(true)
    expect(valueOf(per, job)).toBe(value)
  })

  test.each([
    ['custom.tenant', faktory('[1]', '{"custom":null}')],
    ['custom.tenant', faktory('[1]', '{"custom":{"tenant":{}}}')],
    ['constructor.name', faktory('[1]', '{}')],
    ['args.9', faktory('[1]', '{}')],
    ['tenant', gearman('no JSON')],
    ['tenant', gearman('{"tenant":""}')],
    ['tenant', gearman(`{"tenant":"a","more":"${'x'.repeat(maxSearchedBytes)}"}`)],
    ['unique-prefix::', gearman('', 'acme')],
    ['unique-prefix::', gearman('')],
  ])('a job without %s has no value', (per, job) => {
    expect(valueOf(per, job)).toBeUndefined()
  })

  test('a long value, or one with NUL, is stored by its digest', () => {
    const [one, other] = ['a', 'b'].map((text) => gearman(JSON.stringify({ t: text.repeat(500) })))
    expect(valueOf('t', one as NewJob)).toHaveLength(43)
    expect(valueOf('t', one as NewJob)).not.toBe(valueOf('t', other as NewJob))
    expect(valueOf('t', gearman('{"t":"a\\u0000b"}'))).toHaveLength(43)
  })

  test.each([
    '',
    '.',
    'a..b',
    'a b',
    'unique-prefix:',
    'unique-prefix:123456789',
    7,
    'a.'.repeat(11),
  ])('%j is no key', (per) => expect(isTurnKey(per)).toBe(false))
})
