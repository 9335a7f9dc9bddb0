import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Valkey } from '../src/embedded/valkey.ts'

/** The server's table of descriptors has some 10,000, of which it keeps the lower ones for itself. */
const connections = 7_000

describe('Valkey inside a process', () => {
  let nowMs: number
  let valkey: Valkey
  beforeEach(async () => {
    nowMs = 1_700_000_000_000
    valkey = await Valkey.start({ nowMs: () => nowMs })
  })
  afterEach(() => valkey.stop())

  /** The answer to a command, over a connection of its own. */
  function ask(command: string): Promise<string> {
    return new Promise((resolve) => {
      const connection = valkey.open({
        receive(bytes) {
          resolve(bytes.toString())
          connection.end()
          return true
        },
        closed: () => undefined,
      })
      connection.send(Buffer.from(`${command}\r\n`))
    })
  }

  test.each([
    [0, '*2\r\n$1\r\n0\r\n$1\r\n0\r\n'],
    [4_294_967.297, '*2\r\n$4\r\n4294\r\n$6\r\n967297\r\n'],
    [1_700_000_000_123.456, '*2\r\n$10\r\n1700000000\r\n$6\r\n123456\r\n'],
    [4_102_444_800_000, '*2\r\n$10\r\n4102444800\r\n$1\r\n0\r\n'],
  ])('has the date that it is given, to the microsecond: %d', async (dateMs, said) => {
    nowMs = dateMs
    expect(await ask('TIME')).toBe(said)
  })

  test('answers however many connections there were before', async () => {
    for (let at = 0; at < connections; at += 1) await ask('PING')
    expect(await ask('PING')).toBe('+PONG\r\n')
  })
})
