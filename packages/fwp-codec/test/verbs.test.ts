import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCommand } from '../src/index.ts'

const verbs = [
  'HELLO',
  'END',
  'PUSH',
  'PUSHB',
  'FETCH',
  'ACK',
  'FAIL',
  'BEAT',
  'INFO',
  'FLUSH',
  'MUTATE',
  'QUEUE',
  'TRACK',
  'BATCH',
]

describe('parseCommand', () => {
  test.each(verbs)('%s is known, with and without an argument', (verb) => {
    expect(parseCommand(Buffer.from(verb))).toEqual({ verb, argument: Buffer.alloc(0) })
    expect(parseCommand(Buffer.from(`${verb} a b`))).toEqual({ verb, argument: Buffer.from('a b') })
  })

  test.each(['push {}', 'Push {}', 'PUSHX', 'PUS', 'ENDEND', 'constructor', '__proto__'])(
    '%s is unknown by its first word',
    (line) => {
      const [word] = line.split(' ')
      expect(parseCommand(Buffer.from(line))).toEqual({ verb: 'UNKNOWN', word })
    },
  )

  test('an empty line and a leading space are unknown verbs, not crashes', () => {
    expect(parseCommand(Buffer.alloc(0))).toEqual({ verb: 'UNKNOWN', word: '' })
    expect(parseCommand(Buffer.from(' PUSH {}'))).toEqual({ verb: 'UNKNOWN', word: '' })
  })

  test('a verb without end is repeated in part only', () => {
    const command = parseCommand(Buffer.alloc(1_000_000, 'x'))
    expect(command).toEqual({ verb: 'UNKNOWN', word: 'x'.repeat(64) })
  })

  test('random bytes never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(() => parseCommand(Buffer.from(bytes))).not.toThrow()
      }),
    )
  })

  test('the argument is a view of the line', () => {
    const line = Buffer.from('PUSH {}')
    const command = parseCommand(line)
    expect('argument' in command && command.argument.buffer).toBe(line.buffer)
  })
})
