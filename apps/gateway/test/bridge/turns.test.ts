import { lacksRedis } from '@crossgear/tools/redis-server'
import { configFile } from '../support/temporary-folder.ts'
import { describe, expect, test } from 'vitest'
import { openOnRedis } from '../config/options/composed-gateway.ts'

describe.skipIf(lacksRedis)('needs redis-server: jobs of a function that take turns', () => {
  const { open } = openOnRedis({ isEmptied: true })

  const openWith = async (route: string) =>
    open({ config: await configFile(`[routes.resize]\nqueue = "default"\n${route}`) })

  test('come in turns of their tenants, by whatever door they came and go', async () => {
    const gateway = await openWith('per = "args.0.tenant"')
    const client = await gateway.peer()
    for (let at = 1; at <= 5; at += 1)
      await client.submit('SUBMIT_JOB_BG', 'resize', '', `{"tenant":"big","at":${at}}`)
    const consumer = await gateway.consumer()
    for (const at of [1, 2]) {
      const job = { jobtype: 'resize', args: [{ tenant: 'small', at }] }
      expect(await consumer.push(`small-job-${at}`, job)).toBe('+OK')
    }
    const taken: string[] = []
    for (let job = 0; job < 5; job += 1) {
      const { jid, args } = JSON.parse(JSON.stringify(await consumer.askJson('FETCH default'))) as {
        jid: string
        args: [{ tenant: string; at: number }]
      }
      taken.push(`${args[0].tenant} ${args[0].at}`)
      await consumer.ask(`ACK {"jid":"${jid}"}`)
    }
    expect(taken).toEqual(['big 1', 'small 1', 'big 2', 'small 2', 'big 3'])
    const worker = await gateway.peer('resize')
    expect(String((await worker.ask('GRAB_JOB'))[3])).toContain('"at":4')
  })

  test('have a share each; those without a value share one, which is counted', async () => {
    const gateway = await openWith('per = "tenant"\nconcurrency = 1')
    const client = await gateway.peer()
    for (const payload of ['{"tenant":"a"}', '{"tenant":"a"}', '{"tenant":"b"}', 'none', 'none'])
      await client.submit('SUBMIT_JOB_BG', 'resize', '', payload)
    const worker = await gateway.peer('resize')
    const taken: string[] = []
    for (let job = 0; job < 4; job += 1) {
      const [name, , , payload] = await worker.ask('GRAB_JOB')
      taken.push(name === 'NO_JOB' ? 'NO_JOB' : String(payload))
    }
    expect(taken).toEqual(['{"tenant":"a"}', '{"tenant":"b"}', 'none', 'NO_JOB'])
    expect(await gateway.metrics()).toContain(
      'crossgear_turns_shared_total{function="resize",why="none"} 2',
    )
    expect(await gateway.metrics()).toMatch(
      /crossgear_jobs\{function="resize".*state="waiting".*\} 2/,
    )
  })
})
