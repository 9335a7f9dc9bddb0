import { expect, test } from 'vitest'
import { systemClock } from '../../../../src/doors/net/clock.ts'
import { describeFaktory } from '../support/faktory-gateway.ts'
import { figures, nothing } from '../support/figures.ts'
import type { FwpClient } from '../support/fwp-client.ts'

/** A job as a worker sees it here. */
interface Shown {
  readonly jid: string
  readonly at: string
  readonly enqueued_at: string
}

describeFaktory('scheduled jobs', (gateways) => {
  /** Takes jobs until there are enough in the hands of all workers together. */
  async function work(client: FwpClient, all: Shown[], enough: number): Promise<void> {
    while (all.length < enough) {
      const reply = await client.ask('FETCH')
      if (reply === '$-1') continue
      const job = JSON.parse(reply.slice(reply.indexOf('{'))) as Shown
      all.push(job)
      expect(await client.ask(`ACK {"jid":"${job.jid}"}`)).toBe('+OK')
    }
  }

  test('fire once each over two nodes, and none before its time', async () => {
    const options = { clock: systemClock, fetchBlocksMs: 50 }
    const nodes = [await gateways.open(options), await gateways.open(options)]
    const jobs = 3_000
    const producers = await Promise.all(nodes.map((node) => node.client()))
    const now = Date.now()
    const pushed = Array.from({ length: jobs }, (_, n) => ({
      jid: `scheduled-${n}`,
      jobtype: `type-${n % 7}`,
      args: [],
      at: new Date(now + 2_000 + (n % 500)).toISOString(),
    }))
    for (const [at, producer] of producers.entries()) {
      const some = pushed.filter((_, n) => n % producers.length === at)
      expect(await producer.ask(`PUSHB ${JSON.stringify(some)}`)).toBe('$2\r\n{}')
    }
    const all: Shown[] = []
    const clients = await Promise.all(
      Array.from({ length: 8 }, (_, n) => nodes[n % nodes.length]!.client()),
    )
    const running = clients.map((client) => work(client, all, jobs))
    await Promise.all(running)
    expect(all.map(({ jid }) => jid).sort()).toEqual(pushed.map(({ jid }) => jid).sort())
    const early = all.filter(({ at, enqueued_at }) => Date.parse(enqueued_at) < Date.parse(at))
    expect(early).toEqual([])
    expect(await figures(producers[0]!)).toEqual({ ...nothing, processed: jobs })
  })
})
