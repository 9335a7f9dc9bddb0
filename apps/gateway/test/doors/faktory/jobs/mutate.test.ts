import { expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'
import { figures, nothing } from '../support/figures.ts'
import type { FwpClient } from '../support/fwp-client.ts'

const later = '2999-01-01T00:00:00Z'

function mutate(cmd: string, target: string, filter?: object): string {
  return `MUTATE ${JSON.stringify({ cmd, target, filter })}`
}

/** Three scheduled jobs, three that wait for another try, three dead. */
async function fill(client: FwpClient): Promise<void> {
  for (const [at, retry] of [25, 25, 25, -1, -1, -1].entries()) {
    const job = await client.pushAndFetch(`${retry < 0 ? 'dead' : 'retry'}-${at}000`, {
      retry,
      args: [at],
    })
    await client.ask(`FAIL ${JSON.stringify({ jid: job['jid'] })}`)
  }
  for (const [at, jobtype] of ['t', 'other', 'other'].entries()) {
    await client.push(`later-${at}000`, { at: later, jobtype, args: [`arg ${at}`] })
  }
}

describeFaktory('MUTATE', (gateways) => {
  const full = { ...nothing, scheduled: 3, retries: 3, dead: 3, processed: 6, failures: 6 }

  const tooLong = 'is too long: at most 1000 characters'
  test.each([
    [{ regexp: '?'.repeat(1_001) }, `regexp ${tooLong}`],
    [{ jobtype: '*'.repeat(1_001) }, `jobtype ${tooLong}`],
    [{ jids: ['*'.repeat(1_001)] }, `a jid with a star ${tooLong}`],
    [{ jids: Array<string>(101).fill('*') }, 'invalid format'],
  ])('refuses the filter %j', async (filter, text) => {
    const one = await gateways.client()
    expect(await one.ask(mutate('kill', 'dead', filter))).toBe(`-ERR ${text}`)
  })

  test.each([{}, { regexp: '*' }])(
    'requeues in the order in which jobs are due, over all types: %j',
    async (filter) => {
      const one = await gateways.client()
      const jids = Array.from({ length: 12 }, (_, at) => `later-${at + 10}0`)
      for (const [at, jid] of [...jids.entries()].reverse()) {
        const due = `2999-01-01T00:00:${at + 10}Z`
        await one.push(jid, { at: due, jobtype: ['a', 'b', 'c'][at % 3] })
      }
      await one.ask(mutate('requeue', 'scheduled', filter))
      const fetched: unknown[] = []
      for (const jid of jids) {
        fetched.push((await one.askJson('FETCH'))['jid'])
        await one.ask(`ACK ${JSON.stringify({ jid })}`)
      }
      expect(fetched).toEqual(jids)
    },
  )

  test('keeps the order of pipelined commands', async () => {
    const one = await gateways.client()
    await one.push('12345678', { at: later })
    one.send(mutate('kill', 'scheduled', { jids: ['12345678'] }), mutate('requeue', 'dead'))
    expect([await one.reply(), await one.reply()]).toEqual(['+OK', '+OK'])
    expect(await figures(one)).toEqual({ ...nothing, enqueued: 1 })
  })

  test('regexp is matched with the JSON without white space, however the job was written', async () => {
    const one = await gateways.client()
    await one.ask(
      'PUSH {"jid": "spaces01", "jobtype": "t", "args": [{"user id": 42}, " a "], "at": "2999-01-01T00:00:00Z"}',
    )
    await one.ask(mutate('kill', 'scheduled', { regexp: '*"user id": 42*' }))
    expect(await figures(one)).toEqual({ ...nothing, scheduled: 1 })
    await one.ask(mutate('kill', 'scheduled', { regexp: '*"args":?{"user id":42}," a "?*' }))
    expect(await figures(one)).toEqual({ ...nothing, dead: 1 })
  })

  test.each([
    [mutate('clear', 'scheduled'), { scheduled: 0 }],
    [mutate('clear', 'retries'), { retries: 0 }],
    [mutate('clear', 'dead'), { dead: 0 }],
    [mutate('discard', 'scheduled'), { scheduled: 0 }],
    [mutate('kill', 'scheduled'), { scheduled: 0, dead: 6 }],
    [mutate('kill', 'retries'), { retries: 0, dead: 6 }],
    [mutate('kill', 'dead'), {}],
    [mutate('requeue', 'scheduled'), { scheduled: 0, enqueued: 3 }],
    [mutate('requeue', 'retries'), { retries: 0, enqueued: 3 }],
    [mutate('requeue', 'dead'), { dead: 0, enqueued: 3 }],
    [mutate('discard', 'scheduled', { jobtype: 'other' }), { scheduled: 1 }],
    [mutate('discard', 'scheduled', { jobtype: 'unknown' }), {}],
    [mutate('discard', 'scheduled', { jobtype: 'oth*' }), { scheduled: 1 }],
    [mutate('discard', 'scheduled', { jobtype: 'othe' }), {}],
    [mutate('discard', 'scheduled', { jobtype: '*', regexp: '*arg 2*' }), { scheduled: 2 }],
    [mutate('discard', 'scheduled', { jids: ['later-0*', 'later-2000'] }), { scheduled: 1 }],
    [mutate('discard', 'scheduled', { jids: ['*'] }), { scheduled: 0 }],
    [mutate('discard', 'scheduled', { jids: ['ater-*'] }), {}],
    [mutate('discard', 'scheduled', { regexp: '*"arg 1"*' }), { scheduled: 2 }],
    [mutate('discard', 'scheduled', { regexp: '*arg ?*', jobtype: 't' }), { scheduled: 2 }],
    [mutate('discard', 'scheduled', { regexp: 'nothing like it' }), {}],
    [
      mutate('requeue', 'retries', { jids: ['retry-1000', 'dead-3000', 'no-such-job'] }),
      { retries: 2, enqueued: 1 },
    ],
    [
      mutate('kill', 'scheduled', { jids: ['later-0000'], jobtype: 'other' }),
      { scheduled: 2, dead: 4 },
    ],
    ['MUTATE { "cmd" : "clear" , "target" : "dead" }', { dead: 0 }],
  ])('%s', async (line, change) => {
    const one = await gateways.client({ wid: 'worker-1' })
    await fill(one)
    expect(await figures(one)).toEqual(full)
    expect(await one.ask(line)).toBe('+OK')
    expect(await figures(one)).toEqual({ ...full, ...change })
  })

  test('lets a requeued job run, also a dead one, and wakes a worker for it', async () => {
    const { client, clock } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    const operator = await client()
    await fill(worker)
    worker.send('FETCH')
    await clock.armed(2_000)
    await operator.ask(mutate('requeue', 'dead', { jids: ['dead-4000'] }))
    const reply = await worker.reply()
    expect(reply).toContain('"jid":"dead-4000"')
    expect(reply).toContain('"retry_count":0')
    expect(await worker.ask('ACK {"jid":"dead-4000"}')).toBe('+OK')
    expect(await figures(operator)).toMatchObject({ dead: 2, processed: 7, failures: 6 })
  })

  test('handles more jobs than fit in one step', async () => {
    const one = await gateways.client()
    const jobs = Array.from({ length: 1_234 }, (_none, at) => ({
      jid: `jid-${at}-000`,
      jobtype: 't',
      at: later,
      args: [at],
    }))
    await one.ask(`PUSHB ${JSON.stringify(jobs)}`)
    await one.ask(mutate('discard', 'scheduled', { regexp: '*"jid-*[13579]-000"*' }))
    expect(await figures(one)).toMatchObject({ scheduled: 617 })
    await one.ask(mutate('clear', 'scheduled'))
    expect(await figures(one)).toMatchObject({ scheduled: 0 })
  })
})
