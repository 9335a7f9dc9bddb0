import { expect, test } from 'vitest'
import { Client } from 'faktory-worker'
import { describeFleet } from './support/fleet.ts'
import { submitByHand } from './support/gearman-by-hand.ts'

/** A Faktory job may nest so deep, itself and its list of arguments counted. */
const maxOfJob = 512

const kinds = {
  arrays: (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`,
  objects: (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
} as const

/** How deep a workload may be to be shown as JSON: objects stand in the list of arguments. */
const max = { arrays: maxOfJob - 1, objects: maxOfJob - 2 } as const

const cases = (['arrays', 'objects'] as const).flatMap((kind) =>
  [1, max[kind] - 1, max[kind], max[kind] + 1, maxOfJob, maxOfJob + 1, 20_000].map(
    (depth) => [kind, depth] as const,
  ),
)

describeFleet('a Gearman workload that is JSON', [], (fleet) => {
  test.each(cases)(
    'of %s %i deep is shown in the form that a producer could push',
    async (kind, depth) => {
      const fn = `${kind}-${depth}`
      const workload = kinds[kind](depth)
      await submitByHand(fleet.first.gearman, fn, Buffer.from(workload), true)
      const stock = new Client({ host: '127.0.0.1', port: fleet.first.faktory })
      const job = await stock.fetch('default')
      await stock.ack(job?.jid ?? '')
      await stock.close()
      const shown = JSON.stringify(job?.args)
      const asJson = kind === 'arrays' ? workload : `[${workload}]`
      expect(shown).toBe(depth <= max[kind] ? asJson : JSON.stringify([workload]))

      // Any program can hand in what it was given, and gets the same.
      const producer = await fleet.first.client()
      const again = (jid: string): string =>
        JSON.stringify({ jid, jobtype: fn, args: JSON.parse(shown) as unknown })
      expect(await producer.ask(`PUSH ${again('pushed-1')}`)).toBe('+OK')
      expect(await producer.ask(`PUSHB [${again('pushed-2')}]`)).toBe('$2\r\n{}')
      for (const jid of ['pushed-1', 'pushed-2']) {
        const next = await producer.askJson('FETCH default')
        expect(next).toMatchObject({ jid })
        expect(JSON.stringify(next['args'])).toBe(shown)
        await producer.ask(`ACK {"jid":"${jid}"}`)
      }
    },
  )

  test('deeper arguments than that are refused', async () => {
    const producer = await fleet.first.client()
    const job = `{"jid":"12345678","jobtype":"deep","args":${kinds.arrays(maxOfJob)}}`
    expect(await producer.ask(`PUSH ${job}`)).toBe('-ERR invalid JSON: nested too deep')
  })
})
