import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { confirmed, goTo, lacksChromium, settled, signIn } from './support/browser.ts'
import type { DashboardGateway } from './support/dashboard-gateway.ts'
import { openDashboard } from './support/open-dashboard.ts'
import { widthOf } from './support/in-page.js'

let gateway: DashboardGateway
let page: Page
let clicks = 0

async function click(target: Locator): Promise<void> {
  clicks += 1
  await target.click()
}

/** Puts dead jobs into a lane: ARGV lane, first id, jobs, record of the failure, seconds since the first one died. */
const fillScript = `
local time = redis.call('TIME')
for id = ARGV[2], ARGV[2] + ARGV[3] - 1 do
  redis.call('HSET', 'job:' .. ARGV[1] .. ':' .. id, 'status', 'error', 'door', 'gearman', 'input', '{"order":' .. id .. '}', 'settled', 1, 'failure', ARGV[4])
  redis.call('ZADD', 'xg:dead:' .. ARGV[1], (time[1] + 180 * 86400 - ARGV[5] * (1 - (id - ARGV[2]) / ARGV[3])) * 1000, id)
end`

const groups = [
  ['mail', 10_001, 3_500, 'TimeoutError', 'no answer from smtp.example.org', 20 * 3600],
  ['mail', 20_001, 12, 'IOError', 'disk full', 600],
  ['resize', 10_001, 1_200, 'TimeoutError', 'no answer from smtp.example.org', 3 * 3600],
  ['resize', 20_001, 1_290, 'DecodeError', 'not a JPEG file: starts with 0x3c 0x68', 86_400],
  ['resize', 30_001, 2, 'Fatal<b>', '<img src=x onerror=alert(1)>', 86_400],
] as const

const rowOf = (error: string): Locator => page.locator('tbody tr', { hasText: error })

describe.skipIf(lacksChromium || lacksRedis)('errors of the whole store', () => {
  beforeAll(async () => {
    const opened = await openDashboard(async (filled) => {
      for (const fn of ['mail', 'resize']) await filled.gearman('-b', '-f', fn, 'hello')
      for (const [lane, first, jobs, errtype, message, seconds] of groups) {
        const record = JSON.stringify({ errtype, message, backtrace: ['at a.js:1', 'at b.js:2'] })
        const words = [lane, first, jobs, record, seconds].map(String)
        await filled.redis.ask('EVAL', fillScript, '0', ...words)
      }
    })
    ;({ gateway, page } = opened)
    await signIn(page)
    return opened.close
  })

  test('are counted as they are, by error, and sort by jobs and times', async () => {
    await goTo(page, 'errors')
    await expect.poll(() => rowOf('TimeoutError').innerText()).toMatch(/4,700/)
    await page.locator('[data-failures="reads"]').waitFor({ state: 'detached' })
    const rows = () => page.locator('tbody tr').allInnerTexts()
    expect(await rows()).toEqual([
      expect.stringMatching(/TimeoutError[^]*4,700[^]*mail[^]*resize/),
      expect.stringMatching(/DecodeError[^]*1,290/),
      expect.stringMatching(/IOError[^]*12[^]*mail/),
      expect.stringMatching(/Fatal<b>[^]*<img src=x/),
    ])
    await page.getByRole('button', { name: 'First failed' }).click()
    await expect.poll(async () => (await rows())[0]).toContain('IOError')
    // The view is in the address.
    expect(page.url()).toContain('sort=first_failed')
    await rowOf('DecodeError').getByRole('link', { name: 'DecodeError' }).click()
    await page.locator('main[data-place*="error_type=DecodeError"] td.main').first().waitFor()
    await settled(page)
    expect(await page.locator('td.main').allInnerTexts()).toEqual(
      Array.from({ length: 50 }, () => expect.stringContaining('DecodeError') as string),
    )
  })

  test.each([1440, 390])('stay in a window of %i pixels', async (width) => {
    await page.setViewportSize({ width, height: 900 })
    await goTo(page, 'errors')
    await rowOf('TimeoutError').waitFor()
    const folder = process.env['SCREENSHOTS']
    if (folder) await page.screenshot({ path: `${folder}/errors-${width}.png`, fullPage: true })
    expect(await page.locator('html').evaluate(widthOf)).toBe(width)
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  test('their jobs are listed newest first, and sort by time', async () => {
    await goTo(page, 'dead')
    const first = page.locator('td.main').first()
    // The last jobs of all functions died a moment before the list was opened.
    expect(await page.locator('th[aria-sort="descending"]').innerText()).toContain('Died')
    const newest = await first.innerText()
    await page.getByRole('button', { name: 'Died' }).click()
    await expect.poll(() => first.innerText()).not.toBe(newest)
    await settled(page)
    expect(await first.innerText()).toMatch(/DecodeError|Fatal/)
    expect(page.url()).toContain('order=asc')
  })

  test('one is retried as a whole with three clicks from the overview', async () => {
    await goTo(page, 'overview')
    clicks = 0
    await click(page.getByRole('navigation').getByRole('link', { name: 'Errors' }))
    await click(rowOf('TimeoutError').getByRole('button', { name: 'Retry these' }))
    const dialog = page.getByRole('dialog')
    expect(await dialog.innerText()).toContain('4,700')
    await click(dialog.locator('footer').getByRole('button', { name: 'Retry now' }))
    await page.getByText('4,700 jobs queued.').waitFor()
    expect(clicks).toBe(3)
    await rowOf('TimeoutError').waitFor({ state: 'detached' })
    expect(await page.locator('tbody tr').count()).toBe(3)
  })

  test('one is deleted as a whole, and others stay', async () => {
    await goTo(page, 'errors')
    await rowOf('DecodeError').getByRole('button', { name: 'Delete these' }).click()
    await confirmed(page, 'Delete')
    await page.getByText('1,290 jobs deleted.').waitFor()
    await rowOf('DecodeError').waitFor({ state: 'detached' })
    await rowOf('IOError').waitFor()
    expect(await gateway.redis.ask('ZCARD', 'xg:dead:resize')).toBe('2')
  })
})
