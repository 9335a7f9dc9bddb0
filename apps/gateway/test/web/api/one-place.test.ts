import type { Static } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import type { failures } from '../../../src/web/api/schemas/failures.ts'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { operatorOf } from '../../commands/terminal/support/terminal.ts'
import { type ApiGateway, apiOnRedis } from './support/api-gateway.ts'

const { describeApi, openApi, redis } = apiOnRedis({ isEmptied: true })

describeApi('one function and one queue', () => {
  const groupsOf = async (api: ApiGateway, query: string) =>
    ((await api.get(`/failures?${query}`)) as Static<typeof failures>).groups

  test('have figures over all queues or functions, and those of their last hour', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail/1', '', 'x')
    const faktory = await FwpClient.greeted(api.gateway.port('faktory'))
    await faktory.push('bulky-0001', { jobtype: 'mail/1', queue: 'bulk' })
    await faktory.push('bulky-0002', { jobtype: 'other', queue: 'bulk' })
    const minuteMs = 60_000
    const startMs = Math.floor(Date.now() / minuteMs) * minuteMs - minuteMs
    const sums = { submitted: 600, completed: 300, failed: 3, 'run:14': 10, 'run:20': 1 }
    for (const of of ['f:mail/1', 'q:bulk']) {
      for (const [name, sum] of Object.entries(sums)) {
        await redis().ask('HSET', `xg:history:${of}:minute:${startMs}`, name, String(sum))
      }
    }
    const flow = {
      per_second: { submitted: 2, completed: 1, failed: 0.01 },
      last_hour: {
        submitted: 600,
        completed: 300,
        failed: 3,
        wait_seconds: null,
        run_seconds: { p50: expect.closeTo(0.11, 1) as number },
      },
    }
    expect(await api.get('/functions/mail%2F1')).toMatchObject({
      function: 'mail/1',
      waiting: 2,
      submitted_total: 2,
      entries_total: 2,
      ...flow,
    })
    const { run } = operatorOf(api)
    const shown = (await run('functions show mail/1')).stdout
    expect(shown).toMatch(/^now +waiting 2 [^]*^rates +in 2.0\/s [^]*^mail\/1 +bulk +1 /m)
    expect((await run('queues show bulk')).stdout).toMatch(/^run +p50 0.1s /m)
    expect((await run('queues show none')).code).toBe(4)
    expect(await api.get('/queues/bulk')).toMatchObject({
      queue: 'bulk',
      waiting: 2,
      is_paused: false,
      throttle: null,
      entries_total: 2,
      ...flow,
    })
    const history = (await api.get('/history?function=mail%2F1')) as { buckets: object[] }
    const filled = history.buckets.filter(
      (bucket) => 'submitted' in bucket && bucket.submitted === 600,
    )
    expect(filled).toHaveLength(1)
    const other = (await api.get('/history?queue=default')) as { buckets: object[] }
    expect(other.buckets).toHaveLength(60)
    expect(JSON.stringify(other)).not.toContain('600')
    expect(await api.refusal('/history?queue=a&function=b')).toEqual([400, 'invalid_request'])
    expect(await api.refusal('/functions/none')).toEqual([404, 'unknown_function'])
    expect(await api.refusal('/queues/none')).toEqual([404, 'unknown_queue'])
  })

  test('failures are grouped by kind and first line, and retried as a group', async () => {
    const api = await openApi()
    const faktory = await FwpClient.greeted(api.gateway.port('faktory'), { wid: 'w1' })
    const errors = [
      ['Timeout', 'no answer\nafter 3 s'],
      ['Timeout', 'no answer\nafter 4 s'],
      ['Timeout', 'no answer at all'],
      ['Disk', 'no answer'],
    ] as const
    for (const [at, [errtype, message]] of errors.entries()) {
      const jid = `fails-000${at}`
      await faktory.pushAndFetch(jid, { jobtype: 'mail', queue: 'bulk', retry: -1 })
      await faktory.ask(`FAIL ${JSON.stringify({ jid, errtype, message })}`)
    }
    const groups = await groupsOf(api, 'function=mail')
    expect(groups.map(({ type, line, jobs }) => [type, line, jobs])).toEqual([
      ['Timeout', 'no answer', 2],
      expect.arrayContaining(['no answer at all']),
      expect.arrayContaining(['Disk', 'no answer', 1]),
    ])
    expect(groups[0]).toMatchObject({
      functions: ['mail'],
      last_failed_at: expect.any(String) as string,
    })
    const example = await api.job(groups[0]?.example ?? '')
    expect(example.error).toMatchObject({ type: 'Timeout', message: 'no answer\nafter 4 s' })
    expect(await groupsOf(api, 'queue=none')).toEqual([])
    expect(await groupsOf(api, 'state=retry')).toEqual([])

    const listed = await operatorOf(api).run('jobs failures --queue bulk')
    expect(listed.stdout).toMatch(/^ +2 +Timeout +no answer +mail +\S+$/m)
    expect((await operatorOf(api).run('jobs failures --state retry')).code).toBe(4)

    const filter = { state: 'dead', error_type: 'Timeout', error_line: 'no answer' }
    expect(await api.actOn('retry', { filter })).toMatchObject({ done: 2, cursor: null })
    const left = await groupsOf(api, 'queue=bulk')
    expect(left.map(({ type, line, jobs }) => [type, line, jobs]).sort()).toEqual([
      ['Disk', 'no answer', 1],
      ['Timeout', 'no answer at all', 1],
    ])
    const { stdout } = await operatorOf(api).run('jobs list --error-type Disk')
    expect(stdout).toMatch(/dead +mail +bulk /)
  })
})
