import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { goTo, lacksChromium, settled } from './support/browser.ts'
import { openDashboard } from './support/open-dashboard.ts'

const functions = 10_000
const jobsOfEach = 100
/** Of the last function. */
const jobsMore = 7
const rowsPerPage = 50
/** The longest wait for a page, ms: a look at all functions takes a second and more on a busy machine. */
const patienceMs = 60_000

/**
 * Functions past the gateway, which hears of each. Of their jobs only the next one of each has a hash: the others are
 * counted alone.
 */
const fillLua = `local ids = {}
for id = 1, ${jobsOfEach} do ids[id] = id end
for at = 1, ${functions} do
  local lane = 'orders.fn-' .. at
  redis.call('HSET', 'xg:lanes', lane, at)
  redis.call('PUBLISH', 'xg:events:0', 'lane\\0' .. lane .. '\\0' .. at)
  redis.call('HSET', 'job:' .. lane .. ':1', 'status', 'idle', 'enqueued', 1700000000000 + at, 'door', 'gearman', 'input', 'x')
  redis.call('LPUSH', 'queue:' .. lane .. ':normal', unpack(ids))
  redis.call('SET', 'uid:' .. lane, ${jobsOfEach})
end
for id = ${jobsOfEach + 1}, ${jobsOfEach + jobsMore} do
  redis.call('LPUSH', 'queue:orders.fn-${functions}:normal', id)
end
redis.call('SET', 'uid:orders.fn-${functions}', ${jobsOfEach + jobsMore})
redis.call('SET', 'xg:lane-number', ${functions})
return ${functions}`

let page: Page

describe.skipIf(lacksChromium || lacksRedis)(`a store of ${functions} functions`, () => {
  beforeAll(async () => {
    const opened = await openDashboard(({ redis }) => redis.connect().eval(fillLua, 0))
    page = opened.page
    page.setDefaultTimeout(patienceMs)
    return opened.close
  })

  const figure = (tile: string) => page.locator(`[data-tile="${tile}"] .value`)
  const names = () => page.locator('td.main').allInnerTexts()

  test('is shown at the cost of one read by the gateway and a few kilobytes', async () => {
    const calls: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/api/')) calls.push(pathname)
    })
    await goTo(page, 'overview')
    const all = { timeout: patienceMs, interval: 100 }
    await expect.poll(() => figure('neutral').getAttribute('title'), all).toBe('10,000')
    const waiting = (functions * jobsOfEach + jobsMore).toLocaleString('en-US')
    await expect.poll(() => figure('waiting').getAttribute('title'), all).toBe(waiting)
    // The stream brings all figures; what is wrong is asked for.
    await expect
      .poll(() => [...new Set(calls)].sort())
      .toEqual(['/api/v1/events', '/api/v1/failures', '/api/v1/session', '/api/v1/troubles'])
  })

  test('lists functions in pages, sorts them and finds one', async () => {
    const sizes: Promise<number>[] = []
    page.on('response', (response) => {
      if (response.url().includes('/api/v1/functions')) {
        sizes.push(response.body().then(({ length }) => length))
      }
    })
    await goTo(page, 'functions')
    expect(await names()).toHaveLength(rowsPerPage)
    const first = await names()
    await page.getByRole('button', { name: 'Next' }).click()
    await expect.poll(async () => (await names())[0], { timeout: patienceMs }).not.toBe(first[0])
    expect(await names()).toHaveLength(rowsPerPage)
    await goTo(page, 'functions?sort=waiting&order=desc')
    expect((await names())[0]).toContain(`orders.fn-${functions}`)
    await page.locator('main [data-search]').selectText()
    await page.keyboard.type('fn-9999')
    await settled(page)
    expect(await names()).toEqual([expect.stringContaining('orders.fn-9999')])
    for (const bytes of await Promise.all(sizes)) expect(bytes).toBeLessThan(64 * 1024)
  })

  test('lists jobs, however many there are', async () => {
    await goTo(page, 'jobs?function=orders.fn-42')
    expect(await names()).toHaveLength(1)
  })
})
