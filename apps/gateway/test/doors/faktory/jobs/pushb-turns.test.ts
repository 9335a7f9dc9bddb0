import { expect, test } from 'vitest'
import { TurnsByHand } from '../../../support/turns-by-hand.ts'
import { describeFaktory } from '../support/faktory-gateway.ts'
import { type FwpClient, pushLine } from '../support/fwp-client.ts'

describeFaktory('a long PUSHB', (gateways) => {
  const jobs = 1_000
  const line = (jobtype: string): string => {
    const list = Array.from({ length: jobs }, (_none, at) => ({
      jid: `${jobtype}-${String(at).padStart(8, '0')}`,
      jobtype,
      args: [],
    }))
    return `PUSHB ${JSON.stringify(list)}`
  }

  async function opened() {
    const hand = new TurnsByHand()
    const { client, scheduler } = await gateways.open({ connectionLimits: { turns: hand.turns } })
    const queued = async (): Promise<number> => {
      const counts = await scheduler.jobs.counts(['new-type'])
      return counts.reduce((sum, { normal }) => sum + normal, 0)
    }
    return { hand, client, queued }
  }

  /** Takes turns until the client has its reply. */
  async function replyIn(hand: TurnsByHand, client: FwpClient): Promise<string> {
    let reply: string | undefined
    const replied = client.reply().then((text) => (reply = text))
    while (reply === undefined) {
      await hand.takeAll()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return replied
  }

  test('of a new type takes turns, and others are served in between', async () => {
    const { hand, client, queued } = await opened()
    const [flooder, other] = [await client(), await client()]
    flooder.send(line('new-type'), pushLine('behind-1', { jobtype: 'behind' }))
    await expect.poll(() => hand.areAwaited).toBe(true)
    expect(await other.push('other-00')).toBe('+OK')
    expect(await queued()).toBe(0)
    expect(await replyIn(hand, flooder)).toBe('$2\r\n{}')
    expect(await queued()).toBe(jobs)
    expect(await replyIn(hand, flooder)).toBe('+OK')
  })

  test('keeps the order of its jobs, and those behind it wait', async () => {
    const { hand, client } = await opened()
    const producer = await client()
    producer.send(line('new-type'), pushLine('last-one', { jobtype: 'new-type' }))
    await replyIn(hand, producer)
    await replyIn(hand, producer)
    const consumer = await client({ wid: 'consumer' })
    const jids: string[] = []
    for (let at = 0; at <= jobs; at += 1) {
      consumer.send('FETCH')
      jids.push(/"jid":"([^"]+)"/.exec(await replyIn(hand, consumer))?.[1] ?? '')
    }
    expect(jids.at(-1)).toBe('last-one')
    expect(jids).toEqual([...jids.slice(0, -1).sort(), 'last-one'])
  })

  test('that is no JSON at its end stores nothing', async () => {
    const { hand, client, queued } = await opened()
    const producer = await client()
    producer.send(`${line('new-type').slice(0, -1)},`)
    expect(await replyIn(hand, producer)).toMatch(/^-ERR invalid JSON/)
    expect(await queued()).toBe(0)
    expect(await producer.push('other-00')).toBe('+OK')
  })
})
