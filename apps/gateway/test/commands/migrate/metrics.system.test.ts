import { writeFile } from 'node:fs/promises'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { describe, expect, test } from 'vitest'
import { runMigrate } from '../../../src/commands/migrate/run-migrate.ts'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { heard } from '../../support/heard.ts'
import { redisOfTest } from '../../support/redis-of-suite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const jobs = 300

describe.skipIf(lacksRedis)('needs redis-server: figures of a migration', () => {
  test('a gateway on its store shows how many jobs it has moved, while it runs, when it is stopped, and when it is done', async () => {
    const file = `${await temporaryFolder()}/jobs.ndjson`
    const job = { v: 1, state: 'queued', door: 'gearman', function: 'mail', level: 5 }
    const lines = Array.from({ length: jobs }, (_none, at) =>
      JSON.stringify({ ...job, payload: Buffer.from(`${at}`).toString('base64') }),
    )
    await writeFile(file, `${lines.join('\n')}\n{"v":1,\n`)
    const store = await redisOfTest()
    const { port } = await gatewayOfTest(wordsOn(store, 'web')).ready
    const migrate = async (signal?: AbortSignal, ...words: readonly string[]) => {
      const sides = ['--from', `file://${file}`, '--to', store.url, '--name', 'old-queue']
      return (await heard(runMigrate, ['run', ...sides, '--batch', '20', ...words], signal)).code
    }
    /** Values by labels, of a page that may be a second old. */
    const figures = async (name: string): Promise<Readonly<Record<string, number>>> => {
      const page = await (await fetch(`http://127.0.0.1:${port('web')}/metrics`)).text()
      const found = page.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))
      return Object.fromEntries(
        Array.from(found, ([, labels = '', value]) => [labels, Number(value)] as const),
      )
    }
    const jobsIn = async (state: string): Promise<number | undefined> =>
      (await figures('crossgear_migration_jobs'))[`migration="old-queue",state="${state}"`]

    expect(await figures('crossgear_migration_jobs')).toEqual({})
    const stop = new AbortController()
    const running = migrate(stop.signal, '--rate', '100')
    await waitFor('some are shown', async () => ((await jobsIn('stored')) ?? 0) > 0)
    expect(await figures('crossgear_migration_state')).toEqual({
      'migration="old-queue",state="running"': 1,
    })
    stop.abort()
    expect(await running).toBe(4)
    await waitFor('it is shown as stopped', async () =>
      Object.keys(await figures('crossgear_migration_state')).some((text) => /stopped/.test(text)),
    )
    expect(await jobsIn('stored')).toBeLessThan(jobs)
    expect(await migrate()).toBe(3)
    await waitFor('it is shown as done', async () => (await jobsIn('stored')) === jobs)
    expect(await jobsIn('rejected')).toBe(1)
    expect(await figures('crossgear_migration_state')).toEqual({
      'migration="old-queue",state="done"': 1,
    })
    const age = Object.values(await figures('crossgear_migration_last_note_seconds'))
    expect(age).toEqual([expect.any(Number)])
    expect(age[0]).toBeLessThan(120)
  })
})
