import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { figures } from '../../doors/faktory/support/figures.ts'
import { push, routedGateways } from './support/routed-gateways.ts'

describe.skipIf(lacksRedis)('a route with max_age', () => {
  const { open } = routedGateways()

  test('fails what waits longer to its client, and keeps background jobs among the dead, without a worker', async () => {
    const gateway = await open('[routes.mail]\nmax_age = 1\n')
    const [waiting, client, producer] = [
      await gateway.peer(),
      await gateway.peer(),
      await gateway.faktory({}),
    ] as const
    const handle = await waiting.submit('SUBMIT_JOB', 'mail', '', 'x')
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    expect(await push(producer, 'mail')).toBe('+OK')
    await client.submit('SUBMIT_JOB_BG', 'other', '', 'x')
    expect(await waiting.receive()).toEqual(['WORK_FAIL', handle])
    await expect.poll(() => figures(producer), soon).toMatchObject({ dead: 2, enqueued: 1 })
    const page = await gateway.metrics()
    expect(page).toMatch(/crossgear_jobs_expired_total\{function="mail",door="gearman"\} 1/)
    expect(page).toMatch(/crossgear_jobs_died_total\{function="mail",door="gearman"\} 1/)
    expect(page).toMatch(/crossgear_jobs_died_total\{function="mail",door="faktory"\} 1/)
    const { body } = await gateway.api.call('listJobs', {
      params: {},
      query: { state: 'dead' },
      body: undefined,
    })
    const { jobs } = body as { jobs: { function: string }[] }
    expect(jobs.map(({ function: fn }) => fn)).toEqual(['mail', 'mail'])
  })

  test('drops background jobs too if it says so, and counts them', async () => {
    const gateway = await open('[routes.mail]\nmax_age = 1\nmax_age_action = "drop"\n')
    const [client, admin] = [await gateway.peer(), await gateway.faktory({})]
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    await expect.poll(() => figures(admin), soon).toMatchObject({ dead: 0, enqueued: 0 })
    expect(await gateway.metrics()).toMatch(
      /crossgear_jobs_expired_total\{function="mail",door="gearman"\} 1/,
    )
  })

  test('leaves a shorter time that the producer set, and one that is taken in time', async () => {
    const gateway = await open('[routes.mail]\nmax_age = 3\n')
    const [producer, worker] = [await gateway.faktory({}), await gateway.peer('mail')]
    expect(await push(producer, 'mail', { custom: { expires_in: 1 } })).toBe('+OK')
    await expect
      .poll(() => figures(producer), soon)
      .toMatchObject({ dead: 0, enqueued: 0, processed: 0 })
    expect(await push(producer, 'mail', { custom: { expires_in: 600 } })).toBe('+OK')
    await worker.send('WORK_COMPLETE', (await worker.nextJob()).handle, '').sync()
    expect(await figures(producer)).toMatchObject({ dead: 0, enqueued: 0, processed: 1 })
  })
})
