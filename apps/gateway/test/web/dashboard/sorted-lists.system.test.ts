import { Client } from 'faktory-worker'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { goTo, lacksChromium, settled, signIn } from './support/browser.ts'
import { openDashboard } from './support/open-dashboard.ts'

let page: Page
let faktoryPort: number

const tableOf = (caption: string) => page.getByRole('table', { name: caption, exact: true })

/** The first cells of a table, from the top. */
const names = (caption: string): Promise<string[]> =>
  tableOf(caption).locator('td.main').allInnerTexts()

/** Clicks the head of a column, and waits until the rows are in its order. */
async function sortBy(caption: string, column: string, rows: readonly RegExp[]): Promise<void> {
  await tableOf(caption).getByRole('button', { name: column, exact: true }).click()
  await settled(page)
  await expect
    .poll(() => names(caption))
    .toEqual(rows.map((row) => expect.stringMatching(row) as string))
}

describe.skipIf(lacksChromium || lacksRedis)('a list sorts by its times and counts', () => {
  beforeAll(async () => {
    const opened = await openDashboard()
    const { gateway } = opened
    ;({ page } = opened)
    faktoryPort = gateway.port('faktory')
    const client = new Client({ host: '127.0.0.1', port: faktoryPort, wid: 'maker' })
    await client.connect()
    for (const [at, name] of ['first', 'second'].entries()) {
      const success = { jobtype: 'done', args: [] }
      const batch = { description: name, success }
      const bid = await client.send(['BATCH NEW', JSON.stringify(batch)])
      // The older batch has more jobs.
      for (let jobs = at; jobs < 2; jobs += 1) {
        const job = { jobtype: name, queue: name, args: [], custom: { bid } }
        await client.push({ jid: `${name}-00000${jobs}`, ...job })
      }
      await client.send(['BATCH COMMIT', bid])
    }
    for (const [at, jobs] of [1, 2].entries()) {
      for (let job = 0; job < jobs; job += 1) await gateway.gearman('-b', '-f', `fn-${at}`, 'x')
    }
    const dead = { jobtype: 'dies', queue: 'dies', args: [], retry: -1 }
    for (const jid of ['died-000001', 'died-000002']) {
      await client.push({ jid, ...dead })
      await client.fetch('dies')
      await client.fail(jid, new Error('no more'))
    }
    await client.close()
    await signIn(page)
    return opened.close
  })

  test('batches by their time and by their jobs', async () => {
    await goTo(page, 'batches')
    expect(await names('Batches')).toEqual([
      expect.stringMatching(/^second/),
      expect.stringMatching(/^first/),
    ])
    await sortBy('Batches', 'Made', [/^first/, /^second/])
    expect(page.url()).toContain('order=asc')
    await sortBy('Batches', 'Jobs', [/^first/, /^second/])
    await sortBy('Batches', 'Jobs', [/^second/, /^first/])
    expect(await page.locator('.pager').innerText()).toContain('of the newest 1,000')
  })

  test('workers by how long they have had a job, and by their last beat', async () => {
    // Stock clients connect anew now and then, which is a sign of life as well.
    for (const wid of ['first', 'second']) {
      const worker = await FwpClient.ofTest(faktoryPort, { wid })
      await worker.askJson(`FETCH ${wid}`)
      await worker.ask(`BEAT {"wid":"${wid}"}`)
    }
    await goTo(page, 'workers')
    await sortBy('Workers', 'Last beat', [/^first/, /^second/])
    await sortBy('Workers', 'Last beat', [/^second/, /^first/])
    await sortBy('Workers', 'Its jobs', [/^second/, /^first/])
    await sortBy('Workers', 'Its jobs', [/^first/, /^second/])
    await page.reload()
    await goTo(page, page.url().split('#/')[1] ?? '')
    expect((await names('Workers'))[0]).toMatch(/^first/)
  })

  test('jobs of one state, also where the list has the filter', async () => {
    await goTo(page, 'jobs?state=dead')
    const rows = (): Promise<string[]> => names('Jobs')
    expect((await rows())[0]).toContain('died-000002')
    await page.getByRole('button', { name: 'Died', exact: true }).click()
    await settled(page)
    await expect.poll(async () => (await rows())[0]).toContain('died-000001')
  })

  test('acts by their time and by their jobs', async () => {
    for (const fn of ['fn-0', 'fn-1']) {
      await goTo(page, `function/${fn}`)
      await page.locator('main').getByRole('button', { name: 'Empty', exact: true }).first().click()
      const dialog = page.getByRole('dialog')
      await dialog.locator('[data-tally="ready"]').waitFor()
      await dialog.locator('footer').getByRole('button', { name: 'Empty' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    const targets = (): Promise<string[]> => page.locator('td[data-label="On"]').allInnerTexts()
    await goTo(page, 'audit?operation=deleteJobs')
    expect(await targets()).toEqual([
      expect.stringContaining('fn-1'),
      expect.stringContaining('fn-0'),
    ])
    await page.getByRole('button', { name: 'When', exact: true }).click()
    await expect.poll(async () => (await targets())[0]).toContain('fn-0')
    await page.getByRole('button', { name: 'Jobs', exact: true }).click()
    await expect.poll(async () => (await targets())[0]).toContain('fn-1')
    await page.getByRole('button', { name: 'Jobs', exact: true }).click()
    await expect.poll(async () => (await targets())[0]).toContain('fn-0')
  })

  test('a list that comes as a whole by the columns of the page', async () => {
    await goTo(page, 'function/dies')
    await page.locator('[data-runs] tbody tr').nth(1).waitFor()
    const head = page.locator('[data-runs] th', { hasText: 'Ended' })
    await head.getByRole('button').click()
    expect(await head.getAttribute('aria-sort')).toBe('descending')
    await head.getByRole('button').click()
    expect(await head.getAttribute('aria-sort')).toBe('ascending')
    const jobs = await page.locator('[data-runs] td.main a').allInnerTexts()
    expect(jobs).toEqual(jobs.toSorted((one, other) => one.localeCompare(other)))
  })
})
