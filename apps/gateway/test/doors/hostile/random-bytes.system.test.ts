import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { open, closed, push, sayAndGo } from './support/attacker.ts'
import { Random, seed } from './support/random.ts'
import { Target } from './support/target.ts'

const connections = 150

/** Packets that are right but for what is random in them. */
function nearlyGearman(random: Random): Buffer {
  const packets: Buffer[] = []
  for (let count = 1 + random.number(20); count > 0; count -= 1) {
    const header = Buffer.from('\0REQ\0\0\0\0\0\0\0\0', 'latin1')
    if (random.number(8) === 0) header.write('\0RES', 'latin1')
    header.writeUInt32BE(random.number(46), 4)
    const body = random.bytes(random.number(120))
    for (let nuls = random.number(4); nuls > 0; nuls -= 1) {
      if (body.length > 0) body[random.number(body.length)] = 0
    }
    const wrong = random.number(10) === 0 ? random.number(2 ** 32) : body.length
    header.writeUInt32BE(wrong, 8)
    packets.push(header, body)
  }
  const all = Buffer.concat(packets)
  return all.subarray(0, all.length - random.number(8))
}

const verbs = ['PUSH', 'PUSHB', 'FETCH', 'ACK', 'FAIL', 'BEAT', 'QUEUE', 'TRACK', 'BATCH'] as const
const pieces = ['{', '}', '[', ']', '"', ':', ',', '\\', '1e9', 'null', '"jid"', ' ', 'ü'] as const

function nearlyFaktory(random: Random): Buffer {
  const lines = ['HELLO {"v":2,"wid":"hostile"}']
  for (let count = 1 + random.number(20); count > 0; count -= 1) {
    const argument = Array.from({ length: random.number(40) }, () => random.oneOf(pieces)).join('')
    lines.push(`${random.oneOf(verbs)} ${argument}`)
  }
  return Buffer.concat([Buffer.from(lines.join('\n')), random.bytes(random.number(10))])
}

function nearlyHttp(random: Random): Buffer {
  const method = random.oneOf(['GET', 'POST', 'PUT', 'BREW', ''])
  const path = `/${random.bytes(random.number(20)).toString('latin1')}`
  const length = random.oneOf(['5', '-1', '1e9', '99999999999999999999', '0x10', ''])
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\nabc`,
    'latin1',
  )
}

const doors = [
  { door: 'gearman', nearly: nearlyGearman },
  { door: 'faktory', nearly: nearlyFaktory },
  { door: 'http', nearly: nearlyHttp },
  { door: 'web', nearly: nearlyHttp },
] as const

describe.skipIf(lacksRedis)(`random bytes, seed ${seed}`, () => {
  let target: Target
  beforeAll(async () => {
    target = await Target.start()
  })
  afterAll(() => target.stop())

  test.each(doors)('at the $door port harm no other client', async ({ door, nearly }) => {
    const random = new Random(seed)
    await target.withstands(async () => {
      const said: Promise<string>[] = []
      for (let count = connections; count > 0; count -= 1) {
        const bytes = count % 3 === 0 ? random.bytes(random.number(4096)) : nearly(random)
        said.push(sayAndGo(target.ports[door], bytes))
        if (said.length === 25) await Promise.all(said.splice(0))
      }
      await Promise.all(said)
    })
  })

  test('a peer of another protocol is disconnected', async () => {
    const { gearman, faktory } = target.ports
    await target.withstands(async () => {
      const hello = Buffer.from('\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', 'latin1')
      const http = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
      expect(await sayAndGo(faktory, http)).toContain('-ERR the first command must be HELLO')
      expect(await sayAndGo(gearman, http)).toContain('ERR UNKNOWN_COMMAND')
      for (const port of [gearman, faktory]) await sayAndGo(port, hello)
      const socket = await open(gearman)
      const gone = closed(socket)
      await push(socket, Buffer.from('\0BAD\0\0\0\x07\0\0\0\0', 'latin1'))
      await gone
    })
    expect(await target.rejected('gearman', 'bad_magic')).toBeGreaterThan(0)
  })
})
