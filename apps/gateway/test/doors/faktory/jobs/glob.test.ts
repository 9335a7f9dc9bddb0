import { describe, expect, test } from 'vitest'
import { Glob } from '../../../../src/doors/faktory/glob.ts'
import { inTurns } from '../../../support/in-turns.ts'
import {
  matchInPieces,
  MatchTurns,
  stepsPerTurn,
} from '../../../../src/doors/faktory/match-in-pieces.ts'

describe('a glob', () => {
  test.each([
    ['*', '', true],
    ['*', 'anything', true],
    ['', '', true],
    ['', 'a', false],
    ['?', 'a', true],
    ['?', '', false],
    ['a*b*c', 'axxbyyc', true],
    ['a*b*c', 'axxbyy', false],
    ['*abc', 'ababc', true],
    ['h[ae]llo', 'hallo', true],
    ['h[ae]llo', 'hillo', false],
    ['h[^e]llo', 'hallo', true],
    ['h[^e]llo', 'hello', false],
    ['h[a-c]llo', 'hbllo', true],
    ['h[c-a]llo', 'hbllo', true],
    ['h[a-c]llo', 'hdllo', false],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['[\\]]', ']', true],
    ['[abc', 'b', true],
    ['a*b', 'ab', true],
    ['ab*ba', 'aba', false],
    ['a**b', 'a-b', true],
    ['*a?c*', 'abxaac', true],
    ['[^a-cb-e]', 'f', true],
    ['[^a-cb-e]', 'd', false],
    ['[]', 'a', false],
    ['[^]', 'a', true],
    ['*\u00e9[\u4e00-\u9fff]*', 'caf\u00e9\u6f22!', true],
    [`*${'x'.repeat(70)}y*`, `${'x'.repeat(90)}y`, true],
    [`*${'x'.repeat(70)}y*`, 'x'.repeat(90), false],
  ])('%j on %j is %s', (glob, text, matches) => {
    expect(new Glob(glob).match(text).run(Infinity)).toBe(matches)
  })

  test('agrees with a plain one on all short texts', () => {
    const letters = ['a', 'b', '*', '?', '[^a]']
    const words = (from: readonly string[], length: number): string[] =>
      length === 0
        ? ['']
        : words(from, length - 1).flatMap((word) => [word, ...from.map((each) => word + each)])
    const texts = [...new Set(words(['a', 'b'], 5))]
    for (const glob of new Set(words(letters, 4))) {
      const pattern = glob.replaceAll('*', '.*').replaceAll('?', '.')
      const plain = new RegExp(`^${pattern}$`)
      const compiled = new Glob(glob)
      const wrong = texts.filter((text) => compiled.match(text).run(Infinity) !== plain.test(text))
      expect([glob, wrong]).toEqual([glob, []])
    }
  })

  test.each([
    ['many stars', 'a*'.repeat(500)],
    ['one long word', `*${'a'.repeat(998)}b`],
    ['a long word between stars', `*${'a'.repeat(997)}b*`],
    ['any characters', `*${'?'.repeat(996)}b*`],
    ['sets', `*${'[^b]'.repeat(249)}b*`],
  ])('with %s takes a step a character and 32 places of the pattern at most', (_name, glob) => {
    const text = 'a'.repeat(100_000)
    const match = new Glob(glob).match(text)
    match.run(Infinity)
    expect(match.steps).toBeLessThanOrEqual(text.length * Math.ceil(glob.length / 32) + glob.length)
  })

  test('is matched in pieces of about the steps asked for', () => {
    const match = new Glob('*ab*').match('a'.repeat(10_000))
    for (let piece = 1; piece < 10; piece += 1) {
      expect(match.run(1_000)).toBeUndefined()
      expect(match.steps).toBe(piece * 1_000)
    }
    expect([match.run(1_000), match.run(1_000)]).toEqual([undefined, false])
  })
})

describe('texts matched in pieces', () => {
  test('let others pass during one long text', async () => {
    const matches = matchInPieces(`*${'a'.repeat(900)}b*`, (text: string) => text)
    const text = 'a'.repeat(stepsPerTurn)
    await inTurns(29, () => matches(text))
  })

  test('let others pass between many short ones', async () => {
    const matches = matchInPieces('*b*', (text: string) => text)
    const text = 'a'.repeat(stepsPerTurn / 16)
    await inTurns(10, async () => {
      for (let at = 0; at < 80; at += 1) expect(await matches(text)).toBe(false)
    })
  })

  test('let others pass between many patterns', async () => {
    const turns = new MatchTurns()
    const patterns = Array.from({ length: 80 }, (_none, at) => `*b${at}*`)
    const tests = patterns.map((pattern) => matchInPieces(pattern, (text: string) => text, turns))
    const text = 'a'.repeat(stepsPerTurn / 16)
    await inTurns(10, async () => {
      for (const matches of tests) expect(await matches(text)).toBe(false)
    })
  })
})
