import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dumped, indented, visible } from '../../../dashboard/payload-text.js'

test('JSON is indented as JSON.stringify does it, whatever is in it', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())),
      (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown
        expect(indented(JSON.stringify(plain))).toBe(JSON.stringify(plain, null, 2))
        expect(indented(JSON.stringify(plain, null, 7))).toBe(JSON.stringify(plain, null, 2))
      },
    ),
  )
})

test('numbers keep all their digits', () => {
  expect(indented('[12345678901234567890, 1.10, -0.0,1E400]')).toBe(
    '[\n  12345678901234567890,\n  1.10,\n  -0.0,\n  1E400\n]',
  )
})

test('only an object or an array is taken as JSON', () => {
  for (const text of ['12', '"a"', 'null', '{', '[1,]', '', 'plain {}']) {
    expect([text, indented(text)]).toEqual([text, undefined])
  }
})

test('a dump has offset, bytes and their ASCII text', () => {
  expect(dumped(Buffer.from('Crossgear\n\u00e9 is here').toString('hex'))).toBe(
    '00000000  43 72 6f 73 73 67 65 61  72 0a c3 a9 20 69 73 20  Crossgear... is \n' +
      `00000010  ${'68 65 72 65'.padEnd(48)}  here`,
  )
})

test('characters that change the direction of text are shown as their code', () => {
  expect(visible('a\u202eb\u200bc\td\ne')).toBe('a⟨U+202E⟩b⟨U+200B⟩c\td\ne')
})
