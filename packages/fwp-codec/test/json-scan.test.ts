import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compactJson,
  decodeString,
  maxJsonDepth,
  maxJsonFields,
  scanArray,
  scanFields,
  scanObject,
} from '../src/index.ts'

const invalid = expect.objectContaining({ code: 'INVALID_JSON' })

function accepts(scan: (text: string) => unknown, text: string): boolean {
  try {
    scan(text)
    return true
  } catch (error) {
    expect(error).toEqual(invalid)
    return false
  }
}

function parsesAsObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

describe('scanObject', () => {
  test('values are the text that was written', () => {
    const text =
      ' {"big" : 12345678901234567890 , "f":1.0,"e":1e400,"neg":-0,\t"s":"\\u0041\\/",' +
      '"o":{ "b":1, "a":2 },"n":null,"t":true,"l":[ 1 , 2 ]}\r\n'
    expect([...scanObject(text)]).toEqual([
      ['big', '12345678901234567890'],
      ['f', '1.0'],
      ['e', '1e400'],
      ['neg', '-0'],
      ['s', '"\\u0041\\/"'],
      ['o', '{ "b":1, "a":2 }'],
      ['n', 'null'],
      ['t', 'true'],
      ['l', '[ 1 , 2 ]'],
    ])
  })

  test('of equal names the last counts, however it is escaped', () => {
    expect([...scanObject('{"a":1,"b":2,"\\u0061":3}')]).toEqual([
      ['a', '3'],
      ['b', '2'],
    ])
  })

  test('a name keeps its escapes in the raw field', () => {
    expect(scanFields('{"\\u0061":1}').get('a')).toEqual({
      key: 'a',
      rawKey: '"\\u0061"',
      value: '1',
    })
  })

  test('names of Object.prototype are names like any other', () => {
    const fields = scanObject('{"__proto__":{"x":1},"constructor":2}')
    expect([...fields.keys()]).toEqual(['__proto__', 'constructor'])
  })

  test.each([
    '',
    ' ',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{,}',
    '{"a" 1}',
    '{a:1}',
    "{'a':1}",
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":1e}',
    '{"a":1e+}',
    '{"a":-}',
    '{"a":0x1}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":tru}',
    '{"a":True}',
    '{"a":"\u0000"}',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":"\\u12',
    '{"a":"\\',
    '{"a":"b',
    '{"a":[1,]}',
    '{"a":[1',
    '{"a":[}',
    '{"a":{]}',
    '{}{}',
    '{} x',
    '\ufeff{}',
    '\u00a0{}',
    '[]',
    'null',
    '1',
    '"a"',
    '{"a":1 "b":2}',
    '{"a":1;}',
    '{1:2}',
    '{"a":nullx}',
    '{"a":-01}',
    '{"a":1 2}',
    '/**/{}',
    '{"a":[1 2]}',
    '{"a":[,1]}',
  ])('refuses %j', (text) => {
    expect(() => scanObject(text)).toThrow(invalid)
    expect(parsesAsObject(text)).toBe(false)
  })

  test('nesting is bounded, and deep input costs no stack', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
    expect(accepts(scanObject, nested(maxJsonDepth - 1))).toBe(true)
    expect(() => scanObject(nested(maxJsonDepth))).toThrow('invalid JSON: nested too deep')
    expect(() => scanObject(`{"a":${'['.repeat(1_000_000)}`)).toThrow('nested too deep')
    expect(() => scanObject('{"a":'.repeat(1_000_000))).toThrow('nested too deep')
  })

  test('the number of members is bounded', () => {
    const wide = (count: number) =>
      `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`
    expect(scanObject(wide(maxJsonFields)).size).toBe(maxJsonFields)
    expect(() => scanObject(wide(maxJsonFields + 1))).toThrow('invalid JSON: too many fields')
  })

  test('values printed as JSON are found again, one by one', () => {
    const spaces = fc.constantFrom(undefined, 1, '\t')
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        spaces,
        (object, space) => {
          const fields = scanObject(JSON.stringify(object, null, space))
          const expected = JSON.parse(JSON.stringify(object)) as Record<string, unknown>
          expect([...fields.keys()]).toEqual(Object.keys(expected))
          for (const [name, raw] of fields) expect(JSON.parse(raw)).toEqual(expected[name])
        },
      ),
    )
  })

  test('damaged JSON is accepted exactly if JSON.parse accepts it', () => {
    const damage = fc.constantFrom(...Array.from('{}[]",:\\u0e+-.1tn \t\n\u0001é'))
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
        fc.nat(),
        damage,
        fc.boolean(),
        (object, position, char, isInserted) => {
          const text = JSON.stringify(object)
          const at = position % text.length
          const damaged = text.slice(0, at) + char + text.slice(isInserted ? at : at + 1)
          expect(accepts(scanObject, damaged)).toBe(parsesAsObject(damaged))
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('random text is refused with the coded error and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(accepts(scanObject, text)).toBe(parsesAsObject(text))
      }),
    )
  })
})

describe('compactJson', () => {
  test('takes away white space between values alone', () => {
    const text = ' { "a b" : [ 1 ,\t"\\" x" , { } ]\r\n, "c":  null } '
    expect(compactJson(text)).toBe('{"a b":[1,"\\" x",{}],"c":null}')
  })

  test('gives what JSON.stringify prints', () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 0, max: 4 }), (json, indent) => {
        const printed = JSON.stringify(JSON.parse(json), null, indent)
        expect(compactJson(printed)).toBe(JSON.stringify(JSON.parse(json)))
      }),
    )
  })
})

describe('scanArray', () => {
  test('elements are the text that was written', () => {
    expect(scanArray(' [ 1.0 ,"a,]", {"x" : [1]},null ] ')).toEqual([
      '1.0',
      '"a,]"',
      '{"x" : [1]}',
      'null',
    ])
    expect(scanArray('[]')).toEqual([])
    expect(scanArray(' [ ] ')).toEqual([])
  })

  test('elements beyond the maximum are checked, but not returned', () => {
    expect(scanArray('[1,2,3]', 2)).toEqual(['1', '2'])
    expect(() => scanArray('[1,2,x]', 2)).toThrow(invalid)
  })

  test.each(['', '[', '[1', '[1,', '[1,]', '[,1]', '[1]]', '{}', 'null', '[1 2]'])(
    'refuses %j',
    (text) => {
      expect(() => scanArray(text)).toThrow(invalid)
    },
  )
})

describe('decodeString', () => {
  test('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(decodeString(JSON.stringify(text))).toBe(text)
      }),
    )
  })

  test('half a surrogate pair becomes the replacement character', () => {
    expect(decodeString('"\\ud83d\\ude00 \\ud83d x \\ude00"')).toBe('😀 \ufffd x \ufffd')
  })
})
