import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { streamBounds } from '../../../src/web/api/event-stream.ts'
import { goTo, lacksChromium, startBrowser } from './support/browser.ts'
import { type DashboardGateway, startDashboardGateway } from './support/dashboard-gateway.ts'

let gateway: DashboardGateway
let page: Page

/** Said by the browser of the answers that the tests make up. */
const failedCall = /^Failed to load resource: /

/** Somebody else who watches, once the gateway has begun to answer. */
async function watch(port: number) {
  const asking = get({ port, host: '127.0.0.1', path: '/api/v1/events', agent: false })
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  answer.on('error', () => undefined).resume()
  return { isAdmitted: answer.statusCode === 200, leave: () => asking.destroy() }
}

const main = () => page.locator('main')

/** Calls of the API that are answered by a refusal, as a gateway or a proxy gives it; returns what ends that. */
async function refuse(path: string, status: number, code: string): Promise<() => Promise<void>> {
  const url = `**/api/v1/${path}`
  const error = { code, message: `refused with ${code}` }
  await page.route(url, (route) => route.fulfill({ status, json: { error } }))
  return () => page.unroute(url)
}

describe.skipIf(lacksChromium || lacksRedis)('the dashboard in trouble', () => {
  beforeAll(async () => {
    gateway = await startDashboardGateway()
    await gateway.gearman('-b', '-f', 'mail', 'x')
    const browser = await startBrowser(gateway.port('web'))
    page = browser.page
    return async () => {
      await browser.close()
      await gateway.close()
      expect(browser.faults.filter((fault) => !failedCall.test(fault))).toEqual([])
    }
  })

  test.each([
    ['job/none', 'No such job'],
    ['function/none', 'No such function'],
    ['queue/none', 'No such queue'],
    ['batches/none', 'No such batch'],
    [`worker/${'n'.repeat(8)}:f1`, 'Worker not found'],
  ])(
    'the page %s says that there is none, or else why nothing is known of it',
    async (at, none) => {
      const collection = at.split('/')[0] ?? ''
      const path = collection === 'batches' ? 'batches/*' : `${collection}s/*`
      for (const [status, code, title] of [
        [403, 'not_yours', 'This is not yours'],
        [503, 'store_unavailable', 'The gateway cannot reach its store'],
        [500, 'internal_error', 'It cannot be read'],
      ] as const) {
        const end = await refuse(path, status, code)
        await goTo(page, 'nodes')
        await page.goto(`/#/${at}`)
        await page.getByText(title, { exact: true }).waitFor()
        expect(await main().innerText()).toContain(`Refused with ${code}`)
        expect(await main().innerText()).not.toMatch(/No such|not found|never was/)
        await end()
      }
      // The page asks again by itself.
      await page.getByText(none, { exact: true }).waitFor()
    },
  )

  test('a job is there again when the gateway answers again', async () => {
    await goTo(page, 'jobs?function=mail')
    const url = '**/api/v1/jobs/*'
    await page.route(url, (route) => route.abort())
    await page.locator('td.main a').first().click()
    await page.getByText('No connection', { exact: true }).first().waitFor()
    expect(await main().innerText()).toContain('The gateway does not answer.')
    expect(await main().innerText()).not.toContain('No such job')
    await page.unroute(url)
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  })

  test('one viewer too many is shown figures of every few seconds, and told so, until there is room', async () => {
    await page.goto('about:blank')
    const viewers: Awaited<ReturnType<typeof watch>>[] = []
    const areAll = async (): Promise<number> => {
      const viewer = await watch(gateway.port('web'))
      if (viewer.isAdmitted) viewers.push(viewer)
      return viewers.length
    }
    await expect.poll(areAll, { interval: 1 }).toBe(streamBounds.viewers)
    await goTo(page, 'overview')
    await page.getByText('asks for its figures every 5 seconds').waitFor()
    await page.getByText('Every 5 seconds', { exact: true }).waitFor()
    const waiting = page.locator('[data-tile="waiting"] .value')
    const before = Number(await waiting.innerText())
    await gateway.gearman('-b', '-f', 'mail', 'one more')
    await expect.poll(() => waiting.innerText()).toBe(String(before + 1))
    for (const viewer of viewers) viewer.leave()
    await page.getByText('Live', { exact: true }).first().waitFor()
    await page.getByText('asks for its figures every 5 seconds').waitFor({ state: 'detached' })
  })

  test('a store that does not answer is named in the place of the figures', async () => {
    await goTo(page, 'overview')
    await gateway.redis.kill()
    await page.getByText('No connection', { exact: true }).waitFor()
    await page.getByText('The page shows how it was.').waitFor()
    const banner = page.locator('[data-lost="store_unavailable"]')
    expect(await banner.innerText()).toMatch(
      /^The store is lost since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(.+\)\. /,
    )
    await page.locator('.lost .tiles').waitFor()
    await page.reload()
    await page.getByText('The gateway cannot reach its store', { exact: true }).waitFor()
    await gateway.redis.start()
    await page.locator('[data-tile="waiting"] .value').waitFor()
    expect(await page.locator('.lost, [data-lost]').count()).toBe(0)
  })

  test('a gateway that does not answer is named over dimmed figures, until it is back', async () => {
    const overview = JSON.stringify(await (await page.request.get('/api/v1/overview')).json())
    const url = '**/api/v1/events'
    const bodies = [`event: overview\ndata: ${overview}\n\n`]
    await page.route(url, (route) => {
      const body = bodies.shift()
      return body === undefined
        ? route.abort()
        : route.fulfill({ contentType: 'text/event-stream', body })
    })
    await goTo(page, 'overview')
    await page.reload()
    await page.locator('.tiles').waitFor()
    await page.locator('[data-lost="unreachable"]').getByText('The gateway is lost').waitFor()
    await page.locator('.lost .tiles').waitFor()
    await page.unroute(url)
    await page.locator('[data-lost]').waitFor({ state: 'detached' })
    expect(await page.locator('.lost').count()).toBe(0)
  })

  test('a page that was left open over an upgrade says so, and an unknown one is none', async () => {
    const overview: unknown = await (await page.request.get('/api/v1/overview')).json()
    const before = JSON.stringify({ ...(overview as object), version: '0.0.1' })
    const body = `event: overview\ndata: ${before}\n\n`
    const url = '**/api/v1/events'
    await page.route(url, (route) => route.fulfill({ contentType: 'text/event-stream', body }))
    await goTo(page, 'workers')
    await page.reload()
    await page.getByText('Version 0.0.1').waitFor()
    expect(await page.getByText('has another version by now').count()).toBe(0)
    // The browser opens the stream again, which has ended.
    await page.unroute(url)
    await page.getByText('has another version by now').waitFor()
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByText('has another version by now').waitFor({ state: 'detached' })
    await goTo(page, 'nowhere')
    await page.getByText('The dashboard has no page “nowhere”').waitFor()
  })

  test('a gateway that does not tell the session is no reason to ask for a password', async () => {
    const end = await refuse('session', 503, 'store_unavailable')
    await page.reload()
    await page.getByText('The gateway cannot reach its store', { exact: true }).waitFor()
    expect(await page.getByLabel('Password').count()).toBe(0)
    await end()
    await page.getByRole('link', { name: 'Overview', exact: true }).waitFor()
  })
})
