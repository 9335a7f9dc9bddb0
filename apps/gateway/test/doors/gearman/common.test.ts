import { expect, test } from 'vitest'
import { describeGearman } from './support/gearman-gateway.ts'

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex')

describeGearman('needs redis-server: any Gearman peer', ({ open }) => {
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
