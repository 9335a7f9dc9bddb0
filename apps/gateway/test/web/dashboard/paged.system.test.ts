import { Client } from 'faktory-worker'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { confirmed, goTo, lacksChromium, signIn } from './support/browser.ts'
import type { DashboardGateway } from './support/dashboard-gateway.ts'
import { openDashboard } from './support/open-dashboard.ts'

let gateway: DashboardGateway
let page: Page
let clicks = 0

async function click(target: Locator): Promise<void> {
  clicks += 1
  await target.click()
}

/** The sentence that a page says about its thing. */
const waits = (): Locator => page.locator('main p[data-waits]')

describe.skipIf(lacksChromium || lacksRedis)('somebody who is paged at night', () => {
  beforeAll(async () => {
    const opened = await openDashboard(async (filled) => {
      await filled.gearman('-b', '-f', 'mail', 'hello')
    })
    ;({ gateway, page } = opened)
    await signIn(page)
    return opened.close
  })

  test('sees why a job does not run with one click at most, and ends that where it is said', async () => {
    await goTo(page, 'jobs')
    clicks = 0
    await click(page.locator('td.main a').first())
    expect(clicks).toBe(1)
    await expect.poll(() => waits().getAttribute('data-waits')).toBe('no_worker')
    expect(await waits().textContent()).toContain('Waits for: No worker')
    await goTo(page, 'functions')
    await page.getByLabel('Acts on mail').selectOption({ label: 'Pause' })
    await confirmed(page, 'Pause')
    const inList = page.locator('td.main [data-waits="paused"]')
    // The time is in the zone of the viewer, with its name.
    await expect
      .poll(() => inList.textContent())
      .toMatch(/Paused by an operator since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/)
    const words = (await inList.textContent())?.trim() ?? ''
    for (const place of ['function/mail', 'queue/default']) {
      await goTo(page, place)
      await expect.poll(() => waits().textContent()).toContain(words)
    }
    await goTo(page, 'overview')
    await expect
      .poll(() => page.locator('td.main [data-waits="paused"]').textContent())
      .toContain(words)
    await goTo(page, 'function/mail')
    await waits().getByRole('button', { name: 'Resume' }).click()
    await confirmed(page, 'Resume')
    await expect.poll(() => waits().getAttribute('data-waits')).toBe('no_worker')
    expect((await gateway.gearman('-w', '-c', '1', '-f', 'mail')).output).toBe('hello')
  })

  test('pastes any name on any page, and Enter opens what has it', async () => {
    const paste = async (name: string): Promise<void> => {
      await page.keyboard.press('/')
      await page.keyboard.insertText(name)
      await page.keyboard.press('Enter')
    }
    const at = async (place: string): Promise<void> => {
      await page.locator(`main[data-place="#/${place}"] h1`).waitFor()
    }
    const client = new Client({ host: '127.0.0.1', port: gateway.port('faktory') })
    await client.connect()
    await client.push({ jid: 'lost-0001', jobtype: 'lost', queue: 'bulk', args: ['needle'] })
    await client.close()
    // Figures are of a second or more before: the function is in them from then on.
    await expect
      .poll(async () => (await page.request.get('/api/v1/search?q=lost')).text())
      .toContain('"functions":["lost"]')
    await goTo(page, 'cron')
    clicks = 0
    await paste('lost-0001')
    await page.locator('main[data-place^="#/job/"] h1').waitFor()
    const handle = await page.locator('dt:has-text("Gearman handle") + dd').innerText()
    await goTo(page, 'overview')
    await paste(handle)
    await page.locator('main[data-place^="#/job/"] h1').waitFor()
    await paste('lost')
    await at('function/lost')
    await paste('bulk')
    await at('queue/bulk')
    await paste('needle')
    await at('jobs?text=needle')
    // The row shows what the job has got.
    await expect.poll(() => page.locator('td.main [data-payload]').innerText()).toBe('needle')
    await paste('los')
    await at('search?q=los')
    await page.getByRole('link', { name: 'lost' }).waitFor()
    expect(clicks).toBe(0)
  })

  test('undoes an own deletion with one click, and acts on the page of a queue', async () => {
    await gateway.gearman('-b', '-f', 'slip', 'kept')
    await goTo(page, 'jobs?function=slip')
    await page.locator('td.main a').first().click()
    await page.locator('main').getByRole('button', { name: 'Delete' }).click()
    await confirmed(page, 'Delete')
    clicks = 0
    await click(page.locator('.toast').getByRole('button', { name: 'Undo' }))
    await page.getByText('1 job is back.').waitFor()
    expect(clicks).toBe(1)
    await goTo(page, 'queue/default')
    await page.locator('.page-head').getByRole('button', { name: 'Pause' }).click()
    await confirmed(page, 'Pause')
    await expect.poll(() => waits().getAttribute('data-waits')).toBe('queue_paused')
    await page.locator('.page-head').getByRole('button', { name: 'Resume' }).click()
    await confirmed(page, 'Resume')
    await goTo(page, 'function/slip')
    await page.getByLabel('Acts on slip').selectOption({ label: 'Close to Faktory' })
    await confirmed(page, 'Close to Faktory')
    await page.getByText('Close to Faktory: done.').waitFor()
    expect((await gateway.gearman('-w', '-c', '1', '-f', 'slip')).output).toBe('kept')
  })

  test('is warned of names that nobody serves, and of a payload that is JSON no more', async () => {
    await gateway.gearman('-b', '-f', 'served', '{"a":1}')
    // Figures of functions may be a second old.
    await goTo(page, 'functions?contains=served')
    await page.locator('td.main a').first().waitFor()
    await goTo(page, 'jobs?function=served')
    await page.getByRole('button', { name: 'New job' }).click()
    const dialog = page.getByRole('dialog')
    const field = dialog.getByLabel('Function, which is a Faktory jobtype')
    const doubt = dialog.locator('[data-doubt="function"]')
    await field.fill('serv')
    await expect.poll(() => doubt.textContent()).toContain('No job has come to a function of this')
    await dialog.locator('datalist option[value="served"]').waitFor({ state: 'attached' })
    await field.fill('served')
    await expect.poll(() => doubt.textContent()).toBe('No worker serves this function now.')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.locator('td.main a').first().click()
    await page.getByRole('button', { name: 'Edit and resubmit' }).click()
    const submit = dialog.getByRole('button', { name: 'Submit the new job' })
    await dialog.getByLabel('Payload').fill('{"a":')
    await dialog.getByText('The payload was JSON, and is none any more').waitFor()
    expect(await submit.isDisabled()).toBe(true)
    await dialog.getByLabel('Payload').fill('{"a":2}')
    await expect.poll(() => submit.isDisabled()).toBe(false)
    await dialog.locator('footer').getByRole('button', { name: 'Back' }).click()
  })

  test('is told that a gateway of a former version does not say it', async () => {
    await gateway.gearman('-b', '-f', 'old', 'x')
    await page.route('**/api/v1/functions/old', async (route) => {
      const response = await route.fetch()
      const { waits_for: _reason, ...former } = (await response.json()) as Record<string, unknown>
      await route.fulfill({ response, json: former })
    })
    await goTo(page, 'function/old')
    expect(await waits().textContent()).toContain('is unknown: the gateway is of a former version')
    await page.unroute('**/api/v1/functions/old')
  })
})
