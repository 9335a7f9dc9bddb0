import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { goTo, lacksChromium, startBrowser, type TestBrowser } from './support/browser.ts'
import { type DashboardGateway, startDashboardGateway } from './support/dashboard-gateway.ts'

let gateway: DashboardGateway
let browser: TestBrowser

describe.skipIf(lacksChromium || lacksRedis)('a dashboard at a busy gateway', () => {
  beforeAll(async () => {
    gateway = await startDashboardGateway()
    await gateway.gearman('-b', '-f', 'mail', 'x')
    browser = await startBrowser(gateway.port('web'))
  })
  afterAll(async () => {
    await browser.close()
    await gateway.close()
  })

  test('asks again after the wait that it is told, and shows no error meanwhile', async () => {
    const { page } = browser
    const error = { code: 'too_many_requests', message: 'too many calls at once: wait a second' }
    let refusals = 0
    await page.route('**/api/v1/jobs?*', async (route) => {
      if (refusals === 2) {
        await route.continue()
        return
      }
      refusals += 1
      expect(await page.locator('main').innerText()).not.toContain(error.message)
      const headers = { 'Retry-After': '1' }
      await route.fulfill({ status: 429, headers, json: { error } })
    })
    await goTo(page, 'jobs')
    await expect.poll(() => page.locator('main').innerText()).toMatch(/mail/)
    expect(refusals).toBe(2)
    expect(browser.faults).toEqual([])
  })
})
