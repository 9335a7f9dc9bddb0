import { packetTypes } from '@crossgear/gearman-codec'
import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { gearmanGateways } from './support/gearman-gateway.ts'

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex')

describe.skipIf(lacksRedis)('needs redis-server: any Gearman peer', () => {
  const { open } = gearmanGateways()

  test('gets its echo, including NULs', async () => {
    const peer = await (await open()).peer()
    expect(await peer.ask('ECHO_REQ', 'a\0b')).toEqual(['ECHO_RES', 'a\0b'])
    expect(await peer.ask('ECHO_REQ', '')).toEqual(['ECHO_RES', ''])
  })

  test('gets an error for an unknown option', async () => {
    const peer = await (await open()).peer()
    expect(await peer.ask('OPTION_REQ', 'speed')).toEqual([
      'ERROR',
      'UNKNOWN_OPTION',
      'Server does not recognize given option',
    ])
  })

  const foreign = packetTypes.filter(
    ({ name, magics }) => name === 'ALL_YOURS' || !(magics as readonly string[]).includes('REQ'),
  )
  test.each(foreign.map(({ name, args }) => [name, args] as const))(
    '%s is not for a server, which answers with an error and continues',
    async (name, args) => {
      const peer = await (await open()).peer()
      const heard = await peer.ask(name, ...args.map(() => 'x'))
      expect(heard).toEqual(['ERROR', 'INVALID_COMMAND', 'Command not expected'])
      await peer.sync()
    },
  )

  test('that sends response packets gets an error and is still served', async () => {
    const peer = await (await open()).peer()
    const heard = await peer.sendAsServer('GRAB_JOB').receive()
    expect(heard).toEqual(['ERROR', 'INVALID_MAGIC', 'Request magic expected'])
    await peer.sync()
  })

  test.each([
    ['a bad magic', '00524558 00000010 00000000', 'bad_magic'],
    ['packet 0', '00524551 00000000 00000000', 'unknown_command'],
    ['packet 43', '00524551 0000002b 00000000', 'unknown_command'],
    ['packet 2^31', '00524551 80000000 00000000', 'unknown_command'],
    ['arguments that are not there', '00524551 00000007 00000001 41', 'malformed_arguments'],
    ['a length of 4 GiB', '00524551 00000010 ffffffff', 'packet_too_large'],
  ])('that sends %s gets its pending replies and is closed', async (_what, hex, code) => {
    const gateway = await open()
    const [peer, other] = [await gateway.peer(), await gateway.peer()]
    peer.send('SUBMIT_JOB_BG', 'mail', '', '').send('ECHO_REQ', 'before').sendBytes(bytesOf(hex))
    expect((await peer.receive())[0]).toBe('JOB_CREATED')
    expect(await peer.receive()).toEqual(['ECHO_RES', 'before'])
    await peer.ended()
    expect(gateway.rejections).toEqual([code])
    await other.sync()
  })

  test('whose packet is over the limit is closed', async () => {
    const gateway = await open({ maxPacketBytes: 100 })
    const peer = await gateway.peer()
    expect((await peer.ask('ECHO_REQ', 'x'.repeat(100)))[1]).toHaveLength(100)
    peer.send('ECHO_REQ', 'x'.repeat(101))
    await peer.ended()
    expect(gateway.rejections).toEqual(['packet_too_large'])
  })

  test('whose line has no end is closed', async () => {
    const gateway = await open({ maxLineBytes: 100 })
    const peer = await gateway.peer()
    peer.sendBytes('x'.repeat(101))
    await peer.ended()
    expect(gateway.rejections).toEqual(['line_too_long'])
  })

  test('over the limit of connections is refused', async () => {
    const gateway = await open({ maxConnections: 1 })
    const peer = await gateway.peer()
    const surplus = await gateway.peer()
    await surplus.ended()
    expect(gateway.rejections).toEqual(['connections'])
    await peer.sync()
  })

  test('may cut its packets anywhere', async () => {
    const gateway = await open()
    const peer = await gateway.peer()
    const packet = bytesOf('00524551 00000010 00000003 616263')
    for (const byte of packet) {
      peer.sendBytes(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    expect(await peer.receive()).toEqual(['ECHO_RES', 'abc'])
  })

  test('that disconnects in the middle of its work leaves nothing behind', async () => {
    const gateway = await open()
    const peer = await gateway.worker('mail', 'post')
    peer.send('SUBMIT_JOB', 'mail', '', 'x').send('GRAB_JOB').send('GRAB_JOB').send('PRE_SLEEP')
    peer.send('GET_STATUS', 'H:test:1:1')
    await peer.leave()
    const other = await gateway.peer()
    await expect
      .poll(() => other.list('status'), { interval: 5 })
      .toEqual(['mail\t1\t0\t0', 'post\t0\t0\t0'])
    expect(await other.list('workers')).toHaveLength(1)
    expect(await other.send('CAN_DO', 'mail').ask('GRAB_JOB')).toEqual(['NO_JOB'])
    expect(await other.list('show jobs')).toEqual([])
  })
})
