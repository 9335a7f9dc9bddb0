import axe, { type AxeResults } from 'axe-core'
import { Client } from 'faktory-worker'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { goTo, lacksChromium, signIn } from './support/browser.ts'
import { lists } from './support/every-page.ts'
import { openDashboard } from './support/open-dashboard.ts'

let page: Page
/** Pages of single things, which are found by the links of the lists. */
const details = ['job/none', 'function/mail', 'function/broken', 'queue/work', 'cron/nightly']

/** Faults that axe finds in the page as it is, with their elements. */
async function violations(): Promise<readonly string[]> {
  // Sent by the debugger, to which the policy of the page does not apply.
  await page.evaluate(axe.source)
  const results = (await page.evaluate('axe.run({ resultTypes: ["violations"] })')) as AxeResults
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${target.join(' ')} ${any[0]?.message ?? ''}`),
  )
}

/** The first link of a list, as a place. */
async function firstOf(list: string): Promise<string> {
  await goTo(page, list)
  const link = page.locator('td.main a').first()
  return (await link.getAttribute('href'))?.slice('#/'.length) ?? ''
}

describe.skipIf(lacksChromium || lacksRedis)('a page as axe sees it', () => {
  beforeAll(async () => {
    const opened = await openDashboard()
    const { gateway } = opened
    ;({ page } = opened)
    const client = new Client({ host: '127.0.0.1', port: gateway.port('faktory'), wid: 'looker-1' })
    await client.connect()
    const jobs = [
      { jid: 'dead-000001', jobtype: 'broken', queue: 'broken', args: [], retry: -1 },
      { jid: 'again-00001', jobtype: 'broken', queue: 'broken', args: [], retry: 5 },
      { jid: 'later-00001', jobtype: 'later', queue: 'work', args: [], at: '2099-01-01T00:00:00Z' },
      { jid: 'waiting-001', jobtype: 'work', queue: 'work', args: [{ to: 'Åsa' }] },
      { jid: 'held-000001', jobtype: 'held', queue: 'held', args: [1] },
    ]
    await client.pushBulk(jobs)
    for (let failures = 0; failures < 2; failures += 1) {
      const job = (await client.fetch('broken')) as unknown as { jid: string }
      await client.fail(job.jid, Object.assign(new Error('disk is full'), { code: 'DiskError' }))
    }
    await client.fetch('held')
    await client.beat()
    const bid = await client.send([
      'BATCH NEW',
      '{"description":"nightly","success":{"jobtype":"x"}}',
    ])
    const custom = { bid }
    await client.push({ jid: 'in-batch-001', jobtype: 'part', queue: 'work', args: [], custom })
    await client.send(['BATCH COMMIT', bid])
    const entry = { name: 'nightly', schedule: '0 3 * * *', timezone: 'UTC', job: { type: 'mail' } }
    await gateway.redis.connect().hset('xg:cron', entry.name, JSON.stringify(entry))
    await gateway.gearman('-b', '-f', 'mail', '{"to":"Åsa"}')
    gateway.spawnGearman('-w', '-f', 'resize', '--', 'wc', '-c')
    details.push(await firstOf('dead'), await firstOf('jobs?state=running'))
    details.push(await firstOf('batches'), await firstOf('workers'))
    expect(details.filter((place) => place === '')).toEqual([])
    return async () => {
      await client.close()
      await opened.close()
    }
  })

  test('has no fault before one has signed in', async () => {
    await goTo(page, 'audit')
    expect(await violations()).toEqual([])
    await signIn(page)
    await goTo(page, 'functions')
  })

  test.each([
    ['light', 1440],
    ['light', 390],
    ['dark', 1440],
    ['dark', 390],
  ] as const)('has no fault in %s colours, %i pixels wide', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    const found: Record<string, readonly string[]> = {}
    for (const place of [...lists, ...details]) {
      await goTo(page, place)
      const faults = await violations()
      if (faults.length > 0) found[place] = faults
    }
    expect(found).toEqual({})
  })

  test.each(['light', 'dark'] as const)('has no fault in its dialogs, %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme })
    const dialogs = [
      ['jobs', 'New job'],
      ['jobs', 'Saved filters'],
      ['jobs', 'Act on all that match', 'Delete'],
      ['cron', 'New entry'],
      ['errors', 'Retry these'],
      ['queues', 'Pause'],
    ] as const
    const found: Record<string, readonly string[]> = {}
    for (const [place, ...buttons] of dialogs) {
      await goTo(page, place)
      for (const name of buttons) {
        await page.getByRole('button', { name, exact: true }).first().click()
      }
      await page.getByRole('dialog').waitFor()
      const faults = await violations()
      if (faults.length > 0) found[buttons.join(', ')] = faults
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    expect(found).toEqual({})
  })
})
