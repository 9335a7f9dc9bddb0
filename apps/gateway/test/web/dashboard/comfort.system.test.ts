import { readFile } from 'node:fs/promises'
import { Client } from 'faktory-worker'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { confirmed, goTo, lacksChromium, signIn } from './support/browser.ts'
import type { DashboardGateway } from './support/dashboard-gateway.ts'
import { groundOf, scrollersOf, tagOf } from './support/in-page.js'
import { openDashboard } from './support/open-dashboard.ts'

const [lightGround, darkGround] = ['rgb(245, 246, 249)', 'rgb(14, 17, 23)']
const eventually = <Value>(look: () => Value) => expect.poll(look)

let gateway: DashboardGateway
let page: Page
let faktory: Client

const focused = () => page.locator(':focus')
const dialog = () => page.getByRole('dialog')

describe.skipIf(lacksChromium || lacksRedis)('the dashboard', () => {
  beforeAll(async () => {
    const opened = await openDashboard()
    ;({ gateway, page } = opened)
    faktory = new Client({ host: '127.0.0.1', port: gateway.port('faktory'), wid: 'looker-1' })
    await faktory.connect()
    gateway.spawnGearman('-w', '-f', 'broken', 'false')
    await gateway.gearman('-b', '-f', 'broken', 'x')
    for (let n = 0; n < 3; n += 1) await gateway.gearman('-b', '-f', `=fn-${n}`, 'x')
    const job = { type: 'report', queue: 'reports', args: ['by hand'] }
    const entry = { name: 'yearly', schedule: '0 0 1 1 *', timezone: 'UTC', job }
    await gateway.redis.connect().hset('xg:cron', entry.name, JSON.stringify(entry))
    await signIn(page)
    return async () => {
      await faktory.close()
      await opened.close()
    }
  })

  test('is there after a few small requests', async () => {
    const sizes: number[] = []
    page.on('requestfinished', (request) => {
      if (request.url().includes('/api/')) return
      void request.sizes().then(({ responseBodySize }) => sizes.push(responseBodySize))
    })
    await page.reload()
    await page.getByText('Operator', { exact: true }).waitFor()
    await eventually(() => sizes.length).toBeGreaterThan(5)
    expect(sizes.length).toBeLessThan(10)
    // 320 KB without compression.
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120_000)
  })

  test('begins with a link that skips the menu', async () => {
    await goTo(page, 'jobs')
    await page.locator('body').press('Tab')
    await page.reload()
    await page.locator('h1').waitFor()
    await page.keyboard.press('Tab')
    expect(await focused().innerText()).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await focused().evaluate(tagOf)).toBe('MAIN')
    expect(page.url()).toMatch(/#\/jobs$/)
  })

  test.each([
    ['jobs', 'New job', 'INPUT'],
    ['queues', 'Drop', 'BUTTON'],
    ['functions', 'Keyboard ?', 'H2'],
  ])(
    'of %s: the dialog of "%s" has the focus on a %s, and a space closes none',
    async (place, button, tag) => {
      await goTo(page, place)
      await page.getByRole('button', { name: button }).first().click()
      await dialog().waitFor()
      expect(await focused().evaluate(tagOf)).toBe(tag)
      if (tag === 'BUTTON') expect(await focused().innerText()).toBe('Back')
      else {
        await page.keyboard.press(' ')
        expect(await dialog().count()).toBe(1)
        await page.keyboard.press('Escape')
      }
      if (tag === 'BUTTON') await page.keyboard.press('Enter')
      await dialog().waitFor({ state: 'detached' })
    },
  )

  test('keeps the theme that was chosen, and else follows the system', async () => {
    await goTo(page, 'overview')
    const ground = () => page.locator('html').evaluate(groundOf)
    await page.emulateMedia({ colorScheme: 'dark' })
    await eventually(ground).toBe(darkGround)
    await page.getByLabel('Theme').selectOption('Light')
    expect(await ground()).toBe(lightGround)
    await page.reload()
    await page.getByLabel('Theme').waitFor()
    expect(await ground()).toBe(lightGround)
    await page.getByLabel('Theme').selectOption('System')
    expect(await ground()).toBe(darkGround)
    await page.emulateMedia({ colorScheme: 'light' })
    await eventually(ground).toBe(lightGround)
  })

  test.each([360, 390, 800, 1024, 1280, 1440])(
    'all columns are in sight at %i px; a table that scrolls shows it, and keys reach it',
    async (width) => {
      await page.setViewportSize({ width, height: 860 })
      const scrolling: string[] = []
      for (const place of ['functions', 'queues', 'nodes', 'cron', 'workers', 'jobs']) {
        await goTo(page, place)
        // Sizes are looked at in the next frame.
        await eventually(() => page.locator('.table-frame').evaluateAll(scrollersOf)).not.toContain(
          'unmarked',
        )
        const found = await page.locator('.table-frame').evaluateAll(scrollersOf)
        scrolling.push(...found.map((kind) => `${place} ${kind}`))
      }
      await page.setViewportSize({ width: 1280, height: 860 })
      // On a telephone rows are cards, which are never cut; wider screens have room for all columns.
      if (width !== 800) expect(scrolling).toEqual([])
    },
  )

  test('says why a job of Gearman is dead', async () => {
    await goTo(page, 'dead')
    await page.getByText('WORK_FAIL, without a reason').waitFor()
  })

  test('keeps filters with names in the browser', async () => {
    await goTo(page, 'jobs?door=gearman')
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await dialog().getByLabel('Name of the present filter').fill('Old <b>Gearman</b>')
    await dialog().getByRole('button', { name: 'Save', exact: true }).click()
    await dialog().getByRole('link', { name: 'Old <b>Gearman</b>' }).waitFor()
    await page.keyboard.press('Escape')
    await goTo(page, 'dead')
    await page.reload()
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await dialog().getByRole('link', { name: 'Old <b>Gearman</b>' }).click()
    await page.locator('main[data-place="#/jobs?door=gearman"]').waitFor()
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await dialog().getByRole('button', { name: 'Remove Old <b>Gearman</b>' }).click()
    await dialog().getByText('None so far.').waitFor()
    await page.keyboard.press('Escape')
  })

  test('saves the list that is shown as a file', async () => {
    await goTo(page, 'jobs?function=%3Dfn-1')
    const link = page.getByRole('link', { name: 'CSV', exact: true })
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
    expect(download.suggestedFilename()).toBe('crossgear-jobs.csv')
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain(",'=fn-1,default,waiting,gearman,")
  })

  test('pauses, resumes and runs a cron entry', async () => {
    await goTo(page, 'cron')
    const row = page.getByRole('row').filter({ hasText: 'yearly' })
    await row.getByRole('button', { name: 'Pause' }).click()
    await confirmed(page, 'Pause')
    await row.getByText('Paused').waitFor()
    await row.getByRole('button', { name: 'Run now' }).click()
    await confirmed(page, 'Run now')
    const job = (await faktory.fetch('reports')) as { args: unknown } | null
    expect(job).toMatchObject({ args: ['by hand'] })
    await row.getByRole('button', { name: 'Resume' }).click()
    await confirmed(page, 'Resume')
    await row.getByText('Paused').waitFor({ state: 'detached' })
  })

  test('adds a cron entry, says what is wrong with one, changes and removes it', async () => {
    await goTo(page, 'cron')
    await page.getByRole('button', { name: 'New entry' }).click()
    await dialog().getByLabel('Name').fill('weekly <b>')
    await dialog().getByLabel('Schedule').fill('every monday')
    await dialog().getByLabel('Faktory job').fill('{"type": "tidy"')
    await dialog().getByRole('button', { name: 'Add' }).click()
    await dialog().getByText('The job is no JSON').waitFor()
    await dialog().getByLabel('Faktory job').fill('{"type": "tidy", "args": [1]}')
    await dialog().getByRole('button', { name: 'Add' }).click()
    await dialog().getByText('Schedule "every monday"').waitFor()
    await dialog().getByLabel('Schedule').fill('0 6 * * 1')
    await confirmed(page, 'Add')
    const row = page.getByRole('row').filter({ hasText: 'weekly <b>' })
    await row.getByText('0 6 * * 1').waitFor()
    await row.getByRole('button', { name: 'Edit' }).click()
    expect(await dialog().getByLabel('Name').isEditable()).toBe(false)
    await dialog().getByLabel('Schedule').fill('0 7 * * 1')
    await confirmed(page, 'Change')
    await row.getByText('0 7 * * 1').waitFor()
    await row.getByRole('button', { name: 'Remove' }).click()
    await confirmed(page, 'Remove')
    await row.waitFor({ state: 'detached' })
  })

  test('empties and drops a queue, and names the number of its jobs first', async () => {
    const push = (jid: string) => faktory.push({ jid, jobtype: 'sweep', queue: 'swept', args: [] })
    for (const jid of ['swept-0001', 'swept-0002']) await push(jid)
    await goTo(page, 'queues?contains=swept')
    const row = page.getByRole('row').filter({ hasText: /^swept/ })
    await row.getByRole('button', { name: 'Empty' }).click()
    await dialog().locator('[data-tally="ready"]').getByText('2', { exact: true }).waitFor()
    await confirmed(page, 'Empty')
    await page.getByText('2 jobs deleted.').waitFor()
    await eventually(() => row.getByRole('button', { name: 'Empty' }).isDisabled()).toBe(true)
    await push('swept-0003')
    await row.getByRole('button', { name: 'Drop' }).click()
    await confirmed(page, 'Drop')
    await page.getByText('1 job deleted. The queue is dropped.').waitFor()
    await row.waitFor({ state: 'detached' })
    expect(await faktory.fetch('swept')).toBeNull()
  })
})
