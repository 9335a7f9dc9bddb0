import { once } from 'node:events'
import { expect, test } from 'vitest'
import { encodeRequest } from '@crossgear/gearman-codec'
import { TurnsByHand } from '../../support/turns-by-hand.ts'
import { describeGearman } from './support/gearman-gateway.ts'

describeGearman('a client that sends many packets at once', (gateways) => {
  test('takes turns, and others are answered in between', async () => {
    const hand = new TurnsByHand()
    const gateway = await gateways.open({ connectionLimits: { turns: hand.turns } })
    const [flooder, other] = [await gateway.peer(), await gateway.peer()]
    const echoes = Array.from({ length: 1_000 }, (_none, at) => encodeRequest('ECHO_REQ', `${at}`))
    flooder.sendBytes(Buffer.concat(echoes))
    await expect.poll(() => hand.areAwaited).toBe(true)
    other.send('ECHO_REQ', 'other')
    expect(await other.receive()).toEqual(['ECHO_RES', 'other'])
    expect(hand.areAwaited).toBe(true)
    await hand.takeAll()
    for (let at = 0; at < echoes.length; at += 1) {
      expect(await flooder.receive()).toEqual(['ECHO_RES', `${at}`])
    }
  })

  test('may close its half at once: all jobs are stored', async () => {
    const gateway = await gateways.open()
    const peer = await gateway.peer()
    const submit = encodeRequest('SUBMIT_JOB_BG', 'many', '', 'x')
    peer.socket.end(Buffer.concat(Array.from({ length: 3_000 }, () => submit)))
    await once(peer.socket, 'close')
    const counts = await gateway.scheduler.jobs.counts(['many'])
    expect(counts.map(({ normal }) => normal)).toEqual([3_000])
  })
})
