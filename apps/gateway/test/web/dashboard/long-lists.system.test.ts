import { Client } from 'faktory-worker'
import type { Page, Route } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { goTo, lacksChromium, signIn } from './support/browser.ts'
import type { DashboardGateway } from './support/dashboard-gateway.ts'
import { openDashboard } from './support/open-dashboard.ts'

/** Three calls of a search, which looks at 2,000 jobs each. */
const straws = 5_000
const perPush = 1_000

let gateway: DashboardGateway
let page: Page

/** Holds calls of the page back from the second on; returns what lets them go on. */
async function heldCalls(url: string): Promise<() => Promise<void>> {
  let calls = 0
  const held: Route[] = []
  await page.route(url, async (route) => {
    calls += 1
    if (calls === 1) await route.continue()
    else held.push(route)
  })
  return async () => {
    await page.unroute(url)
    await Promise.all(held.map((route) => route.continue().catch(() => undefined)))
  }
}

const progress = () => page.locator('[data-search-stage]')

describe.skipIf(lacksChromium || lacksRedis)('lists longer than one call of the API', () => {
  beforeAll(async () => {
    const opened = await openDashboard()
    ;({ gateway, page } = opened)
    const client = new Client({ host: '127.0.0.1', port: gateway.port('faktory') })
    await client.connect()
    const jobs = Array.from({ length: straws }, (_none, at) => {
      const text = at === straws - 100 ? 'the needle' : `straw ${at}`
      return { jid: `straw-${at}-x`, jobtype: 'haystack', queue: 'bulk', args: [text] }
    })
    for (let at = 0; at < straws; at += perPush) {
      await client.pushBulk(jobs.slice(at, at + perPush))
    }
    await client.close()
    await signIn(page)
    return opened.close
  })

  test('a search goes on by itself until all jobs are looked at', async () => {
    await goTo(page, 'jobs?text=needle')
    await page.getByText(`straw-${straws - 100}-x`).waitFor()
    expect(await progress().innerText()).toContain('Searched: 5,000 jobs looked at, 1 found.')
    await goTo(page, 'jobs?text=nothing+like+that')
    await page.getByText('No job matches').waitFor()
    expect(await page.getByRole('button', { name: 'Act on all that match' }).isDisabled()).toBe(
      true,
    )
  })

  test('a search shows how far it is, stops when told to, and goes on from there', async () => {
    const release = await heldCalls('**/api/v1/jobs?*')
    await page.goto('/#/jobs?text=the+needle')
    await page.getByText('Searching: 2,000 jobs looked at, 0 found.').waitFor()
    await progress().getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped: 2,000 jobs looked at, 0 found.').waitFor()
    await release()
    await progress().getByRole('button', { name: 'Go on' }).click()
    await page.getByText('Searched: 5,000 jobs looked at, 1 found.').waitFor()
  })

  test('a bulk act that is stopped says how much it has done', async () => {
    await goTo(page, 'jobs?function=haystack')
    await page.getByRole('button', { name: 'Act on all that match' }).click()
    await page.locator('.bar').getByRole('button', { name: 'Delete' }).click()
    await page.locator('[data-tally="ready"]').waitFor()
    const release = await heldCalls('**/api/v1/jobs/delete')
    const footer = page.getByRole('dialog').locator('footer')
    await footer.getByRole('button', { name: 'Delete' }).click()
    await page.locator('[data-tally="run"]').getByText('500', { exact: true }).waitFor()
    await footer.getByRole('button', { name: 'Stop' }).click()
    await footer.getByRole('button', { name: 'Stopping' }).waitFor()
    await release()
    // The call that was under way is counted.
    await page.getByText('Stopped: 1,000 of 5,000 deleted.').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await gateway.redis.connect().llen('queue:haystack@bulk:normal')).toBe(straws - 1_000)
  })
})
