import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { argsOfInput, inputOfArgs, maxArgsDepth } from '../src/index.ts'

describe('the arguments of a stored payload', () => {
  test.each([
    ['a JSON array is the arguments', '[1,"two",{"b":1,"a":2}]', '[1,"two",{"b":1,"a":2}]'],
    [
      'numbers are carried as text',
      '[12345678901234567890,1.0,1e2]',
      '[12345678901234567890,1.0,1e2]',
    ],
    ['a JSON object is the one argument', '{"b":1,"a":2}', '[{"b":1,"a":2}]'],
    ['leading space changes nothing', ' \t\r\n{"a":1}', '[ \t\r\n{"a":1}]'],
    ['other JSON is text', '5', '["5"]'],
    ['a JSON string is text', '"a"', '["\\"a\\""]'],
    ['text is one string', 'hello', '["hello"]'],
    ['nothing is one empty string', '', '[""]'],
    ['broken JSON is text', '[1,', '["[1,"]'],
    ['a byte order mark is text', '\ufeff[1]', '["\ufeff[1]"]'],
    ['NUL is text', 'a\0b', '["a\\u0000b"]'],
  ])('%s', (_promise, input, args) => {
    expect(argsOfInput(Buffer.from(input))).toEqual({ args })
  })

  test.each([[[0xff]], [[0xc3, 0x28]], [[0xed, 0xa0, 0x80]], [[0x5b, 0xff, 0x5d]]])(
    'bytes %j, which are not UTF-8, become one base64 string with its encoding',
    (values) => {
      const input = Buffer.from(values)
      expect(argsOfInput(input)).toEqual({
        args: JSON.stringify([input.toString('base64')]),
        encoding: 'base64',
      })
    },
  )

  test('base64 is of the bytes alone, not of the buffer that they are a part of', () => {
    const part = new Uint8Array([1, 0xff, 0xfe, 2]).subarray(1, 3)
    expect(argsOfInput(part).args).toBe(`["${Buffer.from([0xff, 0xfe]).toString('base64')}"]`)
  })

  test.each([
    ['string', '[1]', '["[1]"]', undefined],
    ['json', '5', '[5]', undefined],
    ['json', '[1,2]', '[[1,2]]', undefined],
    ['json', 'no json', '["no json"]', undefined],
    ['base64', 'hello', '["aGVsbG8="]', 'base64'],
  ] as const)('by the rule %s %s is %s', (rule, input, args, encoding) => {
    expect(argsOfInput(Buffer.from(input), rule)).toEqual({ args, ...(encoding && { encoding }) })
  })
})

describe('the stored payload of arguments', () => {
  test.each([
    ['one string is that string', '["hello"]', 'hello'],
    ['one string with escapes is what it says', '["\\u0041\\n"]', 'A\n'],
    ['one object is its text', '[ {"b":1.0, "a":2} ]', '{"b":1.0, "a":2}'],
    ['one number is the array', '[5]', '[5]'],
    ['one array is the array of it', '[[1]]', '[[1]]'],
    ['several are the array, as written', '[1.0, "x"]', '[1.0, "x"]'],
    ['none are the array', '[]', '[]'],
    ['a string that reads as an array is the array of it', '["[1]"]', '["[1]"]'],
    ['a string that reads as an object is the array of it', '["{}"]', '["{}"]'],
    ['an object and more are the array', '[{"a":1},2]', '[{"a":1},2]'],
    ['half a surrogate pair is the array', '["\\ud800"]', '["\\ud800"]'],
  ])('%s', (_promise, args, input) => {
    expect(inputOfArgs(args).toString()).toBe(input)
  })

  test('base64 is decoded if the route says so, and only if it encodes back to the same text', () => {
    expect(inputOfArgs('["aGVsbG8="]', 'base64').toString()).toBe('hello')
    expect(inputOfArgs('["no base64"]', 'base64').toString()).toBe('["no base64"]')
  })
})

/** Arrays in each other, the innermost with `inside`. */
const nested = (depth: number, inside = ''): string =>
  `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`

/** Objects in each other. */
const nestedObjects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

describe('JSON that nests', () => {
  test.each([
    ['an array', 'auto', nested, 511],
    ['an object', 'auto', nestedObjects, 510],
    ['an array as the one argument', 'json', nested, 510],
    ['an object by the rule json', 'json', nestedObjects, 510],
  ] as const)(
    '%s by the rule %s is arguments as deep as a job may be',
    (_name, rule, make, most) => {
      for (const depth of [1, most - 1, most]) {
        const input = make(depth)
        const { args } = argsOfInput(Buffer.from(input), rule)
        expect(args).toBe(rule === 'auto' && make === nested ? input : `[${input}]`)
        expect(inputOfArgs(args, rule).toString()).toBe(input)
      }
      for (const depth of [most + 1, most + 2, 5_000]) {
        const input = make(depth)
        const { args } = argsOfInput(Buffer.from(input), rule)
        expect(JSON.parse(args)).toEqual([input])
        expect(inputOfArgs(args, rule).toString()).toBe(input)
      }
    },
  )

  test('has the depth of its nesting, whatever its strings contain', () => {
    const texts = ['['.repeat(600), `\\"${'{'.repeat(600)}`, '\\', '\\"', ']]]]']
    const strings = texts.map((text) => JSON.stringify(text)).join(',')
    const flat = `[${Array(600).fill(`[${strings}]`).join(',')}]`
    expect(argsOfInput(Buffer.from(flat)).args).toBe(flat)
    const deep = nested(511, `[${strings}]`)
    expect(JSON.parse(argsOfInput(Buffer.from(deep)).args)).toEqual([deep])
  })
})

/** JSON text with numbers that no double holds, odd keys and odd white space. */
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('12345678901234567890', '1.0', '-0', '1e400', '0.10', 'true', 'null', '""'),
    fc.constantFrom('"\\ud800"', '"\\u0000"', '"\\/"', '"[1]"', '"{}"', '" {}"', '"\ufeff"'),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.json().map((text) => JSON.stringify(text)),
    fc.array(tie('value')).map((values) => `[${values.join(' , ')}]`),
    fc
      .array(fc.tuple(fc.string(), tie('value')))
      .map(
        (pairs) => `{${pairs.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join()}}`,
      ),
  ),
})).value

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

const argsText = fc.array(jsonText, { maxLength: 3 }).map((values) => `[${values.join(',')}]`)

/**
 * The parts that must be carried unchanged: everything but the inside of strings and white space.
 */
function skeleton(text: string): string {
  return text
    .replace(/"(?:[^"\\]|\\.)*"/gs, (found) => JSON.stringify(JSON.parse(found) as string))
    .replace(/"(?:[^"\\]|\\.)*"|\s+/gs, (found) => (found.startsWith('"') ? found : ''))
}

describe('arguments that are stored and shown again', () => {
  test('are the same, with numbers and key order as they were written', () => {
    fc.assert(
      fc.property(argsText, (args) => {
        const back = argsOfInput(inputOfArgs(args))
        expect(back.encoding).toBeUndefined()
        expect(JSON.parse(back.args)).toEqual(JSON.parse(args))
        expect(skeleton(back.args)).toBe(skeleton(args))
      }),
      { numRuns: 2_000 },
    )
  })

  const aroundTheLimit = fc.integer({ min: 490, max: 530 })
  const brackets = fc.array(fc.constantFrom('[]', '{}'), { minLength: 530, maxLength: 530 })

  /** A value that nests so deep, in arrays and objects as they come. */
  function deepValue(depth: number, kinds: readonly string[], inside: string): string {
    const around = kinds.slice(0, depth)
    const opened = around.map((kind) => (kind === '[]' ? '[' : '{"k":'))
    const closed = around.map((kind) => kind.slice(1)).reverse()
    return `${opened.join('')}${inside}${closed.join('')}`
  }

  test('are the same around the depth that a job may have, and text beyond it', () => {
    fc.assert(
      fc.property(aroundTheLimit, brackets, fc.json(), (depth, kinds, text) => {
        const inside = JSON.stringify(text)
        const args = `[${deepValue(depth - 1, kinds, inside)}]`
        const back = argsOfInput(inputOfArgs(args))
        if (depth <= maxArgsDepth) expect(back.args).toBe(args)
        else expect(JSON.parse(back.args)).toEqual([inputOfArgs(args).toString()])
      }),
    )
  })

  test('never nest deeper than a job may, whatever the input, and come back as they are', () => {
    fc.assert(
      fc.property(
        aroundTheLimit,
        brackets,
        fc.constantFrom('auto', 'json'),
        (depth, kinds, rule) => {
          const input = deepValue(depth, kinds, '1')
          const { args } = argsOfInput(Buffer.from(input), rule)
          expect(depthOf(JSON.parse(args))).toBeLessThanOrEqual(maxArgsDepth)
          expect(argsOfInput(inputOfArgs(args, rule), rule).args).toBe(args)
        },
      ),
    )
  })

  test('are the same if it is one, by the rule json', () => {
    fc.assert(
      fc.property(jsonText, (value) => {
        const back = argsOfInput(inputOfArgs(`[${value}]`, 'json'), 'json')
        expect(skeleton(back.args)).toBe(skeleton(`[${value}]`))
      }),
    )
  })

  test('any bytes can be read back from their form for Faktory workers', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const { args, encoding } = argsOfInput(bytes)
        const rule = encoding ?? 'auto'
        const values = JSON.parse(args) as unknown[]
        if (encoding === undefined && typeof values[0] !== 'string') return
        expect(inputOfArgs(args, rule)).toEqual(Buffer.from(bytes))
      }),
    )
  })
})
