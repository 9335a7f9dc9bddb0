import { FaktoryConnection, GearmanConnection } from '@crossgear/peers'
import { lacksRedis } from '@crossgear/tools/redis-server'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { goTo, lacksChromium, signIn } from './support/browser.ts'
import { widthOf } from './support/in-page.js'
import { openDashboard } from './support/open-dashboard.ts'

const longBytes = 5 * 1024 * 1024
/** Characters of a payload that a page shows at most, and room for the dots that stand for control characters. */
const shownCharacters = 70_000
/** 512 bytes, which would be an image with a script. */
const markup = '<img src=x onerror=alert(1)>'.padEnd(512, 'n')
/** Turns the direction of what follows. */
const turned = '\u202Eevil'
const hourMs = 3_600_000

let page: Page
let webPort: number

/** Answers calls of the API as a gateway without the operation does, until it is called. */
async function unknownTo(path: string): Promise<() => Promise<void>> {
  const url = `**/api/v1/${path}`
  const error = { code: 'not_found', message: `no such operation: GET /api/v1/${path}` }
  await page.route(url, (route) => route.fulfill({ status: 404, json: { error } }))
  return () => page.unroute(url)
}

/** Bytes of an answer of the API. */
async function bytesOf(path: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${webPort}/api/v1/${path}`)
  expect(answer.status).toBe(200)
  return (await answer.arrayBuffer()).byteLength
}

describe.skipIf(lacksChromium || lacksRedis)('what comes from outside, on the pages:', () => {
  beforeAll(async () => {
    const opened = await openDashboard(async ({ port }) => {
      webPort = port('web')
      const gearman = await GearmanConnection.open({ port: port('gearman') })
      for (const [fn, payload] of [
        ['long', Buffer.alloc(longBytes, 'x')],
        [markup, Buffer.from(turned)],
      ] as const) {
        gearman.send('SUBMIT_JOB_BG', fn, '', payload)
        await gearman.expect('JOB_CREATED')
      }
      gearman.close()
      const faktory = await FaktoryConnection.open({ port: port('faktory'), wid: 'worker-1' })
      const job = { jid: 'dead-0001', jobtype: 'fails', queue: 'bad', args: [], retry: -1 }
      await faktory.ask('PUSH', { ...job, custom: { long: 'c'.repeat(longBytes) } })
      await faktory.ask('FETCH', 'bad')
      await faktory.ask('FAIL', {
        jid: job.jid,
        errtype: markup,
        message: turned + markup.repeat(1_000),
        backtrace: Array.from({ length: 100 }, () => 'l'.repeat(50_000)),
      })
      const tooLong = { ...job, jid: 'waits-0001', custom: { long: 'c'.repeat(2 * longBytes) } }
      await faktory.ask('PUSH', tooLong)
      await faktory.end()
    })
    ;({ page } = opened)
    await signIn(page)
    return opened.close
  })

  test('a list carries no long payload and no long error', async () => {
    for (const state of ['waiting', 'dead'])
      expect(await bytesOf(`jobs?state=${state}`)).toBeLessThan(20_000)
    await goTo(page, 'jobs?function=long')
    expect(await page.locator('td.main').innerText()).toContain('A payload too long for a list')
  })

  test('a payload of 5 MB shows its start, and says that it is cut', async () => {
    await goTo(page, 'jobs?function=long')
    await page.locator('td.main a').first().click()
    const panel = page.locator('section.panel', { hasText: 'Payload' })
    await panel.getByText('Cut: the first').waitFor()
    const text = await panel.locator('pre').innerText()
    expect(text).toMatch(/^x+$/)
    expect(text.length).toBeLessThan(shownCharacters)
  })

  test('a job whose custom fields have 5 MB shows their start, and is read in small answers', async () => {
    expect(await bytesOf('jobs/dead-0001')).toBeLessThan(200_000)
    await goTo(page, 'job/dead-0001')
    const panel = page.locator('section.panel', { hasText: 'Faktory job' })
    await panel.getByText('Cut', { exact: true }).waitFor()
    expect((await panel.locator('pre').innerText()).length).toBeLessThan(shownCharacters)
  })

  test('custom fields that are too long to be read are told of', async () => {
    await goTo(page, 'job/waits-0001')
    const panel = page.locator('section.panel', { hasText: 'Faktory job' })
    await panel.getByText('Too long to show').waitFor()
  })

  test.each([
    ['functions', markup],
    [`function/${encodeURIComponent(markup)}`, markup],
    ['jobs', markup],
    ['errors', '<img src=x'],
    ['job/dead-0001', '<img src=x'],
  ])('names and errors with markup are text in %s, and stay in the window', async (place, text) => {
    await goTo(page, place)
    const shown = page.locator('main', { hasText: text })
    await shown.waitFor()
    expect(await shown.locator('img').count()).toBe(0)
    expect(await shown.innerText()).not.toContain('\u202E')
    expect(await page.locator('html').evaluate(widthOf)).toBe(1280)
  })

  test('ages go by the clock of the store, and a viewer whose clock differs is told', async () => {
    await goTo(page, 'jobs?function=long')
    expect(await page.locator('[data-clock]').count()).toBe(0)
    await page.addInitScript(`{ const now = Date.now; Date.now = () => now() + ${hourMs} }`)
    await page.reload()
    await page
      .getByText(/The clock of this computer is (?:1h|59m[^.]*) ahead of the store's/)
      .waitFor()
    const age = page.locator('td.main ~ td time').first()
    await expect.poll(() => age.innerText()).toMatch(/^(?:now|\d+ s ago|\d+m(?: \d+s)? ago)$/)
  })

  test('what a gateway of a former version cannot tell is said', async () => {
    const end = await unknownTo('troubles')
    await goTo(page, 'overview')
    const panel = page.getByRole('region', { name: 'What is wrong' })
    await panel.getByText('The gateway is of a former version').waitFor()
    await end()
  })

  test('gateways of several versions are told of', async () => {
    await page.route('**/api/v1/nodes', async (route) => {
      const answer = await route.fetch()
      const { nodes } = (await answer.json()) as { nodes: { node: string; version: string }[] }
      const other = nodes.map((node) => ({ ...node, node: `${node.node}2`, version: '0.0.9' }))
      await route.fulfill({ response: answer, json: { nodes: [...nodes, ...other] } })
    })
    await goTo(page, 'nodes')
    expect(await page.locator('[data-versions]').innerText()).toMatch(/several versions: 0\.0\.9, /)
    await page.unroute('**/api/v1/nodes')
  })
})
