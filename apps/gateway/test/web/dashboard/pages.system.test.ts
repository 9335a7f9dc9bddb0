import { Client } from 'faktory-worker'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { goTo, lacksChromium, settled } from './support/browser.ts'
import {
  groundOf,
  hrefsOf,
  namelessOf,
  submittedLately,
  tagOf,
  titlesOf,
  widthOf,
} from './support/in-page.js'
import type { DashboardGateway } from './support/dashboard-gateway.ts'
import { readerPages } from './support/every-page.ts'
import { openDashboard } from './support/open-dashboard.ts'

/** Names and payloads that a careless page would run, or show the wrong way round. */
const hostile = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  "javascript:alert('x')",
  'a\u202egnp.exe\u200b',
  '${alert(1)}&lt;&#x3c;',
] as const
/** A text as the page shows it: marks that cannot be seen are named. */
const shown = (text: string): string =>
  text.replaceAll('\u202e', '⟨U+202E⟩').replaceAll('\u200b', '⟨U+200B⟩')

/** Pages show what is new within a second or two, and later on a busy machine. */
const eventually = <Value>(look: () => Value) => expect.poll(look)

let gateway: DashboardGateway
let faults: readonly string[]
let page: Page
let faktory: Client

/** Takes the job of a queue, and fails it. */
async function failed(queue: string, jid: string): Promise<void> {
  await faktory.fetch(queue)
  await faktory.fail(jid, Object.assign(new Error(hostile[1]), { code: 'Disk<b>' }))
}

async function textOf(selector = 'main'): Promise<string> {
  return await page.locator(selector).first().innerText()
}

describe.skipIf(lacksChromium || lacksRedis)('the pages of the dashboard', () => {
  beforeAll(async () => {
    const opened = await openDashboard()
    ;({ gateway, page, faults } = opened)
    faktory = new Client({ host: '127.0.0.1', port: gateway.port('faktory'), wid: 'looker-1' })
    await faktory.connect()
    for (const name of hostile) await gateway.gearman('-b', '-f', name, name)
    await gateway.gearman('-b', '-f', 'mail', '{"to":"Åsa","id":12345678901234567890}')
    await gateway.gearman('-b', '-f', 'mail', '-I', 'plain text')
    gateway.spawnGearman('-w', '-f', 'resize', '--', 'wc', '-c')
    const base = { args: [hostile[0]], queue: 'bulk' }
    await faktory.pushBulk([
      { ...base, jid: 'scheduled-01', jobtype: 'later', at: '2099-01-01T00:00:00Z' },
      { ...base, jid: 'deadforever1', jobtype: 'broken', queue: 'broken', retry: -1 },
    ] as never)
    await failed('broken', 'deadforever1')
    return async () => {
      await faktory.close()
      await opened.close()
    }
  })

  test('show every page to a reader without a fault, while jobs flow', async () => {
    const worker = gateway.spawnGearman('-w', '-f', 'flow')
    const flow = { isOver: false, done: 0 }
    const jobs = (async () => {
      for (; !flow.isOver; flow.done += 1) await gateway.gearman('-f', 'flow', 'x')
    })()
    for (const place of readerPages) {
      await goTo(page, place)
      expect(await page.locator('main h1').innerText()).not.toBe('')
      expect(await page.locator('main [role="alert"]').count()).toBe(0)
    }
    flow.isOver = true
    await jobs
    worker.kill('SIGKILL')
    expect(flow.done).toBeGreaterThan(readerPages.length)
    expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('names and payloads of any kind are text', async () => {
    await goTo(page, 'jobs')
    const names = await page.locator('td.main a').allInnerTexts()
    expect(names).toEqual(expect.arrayContaining(hostile.map(shown)))
    for (const name of hostile) {
      await goTo(page, 'jobs')
      await page.getByRole('link', { name: shown(name), exact: true }).click()
      await page.locator('pre.payload').waitFor()
      expect(await textOf('pre.payload')).toBe(shown(name))
      expect(await textOf('main h1')).toBe(shown(name))
    }
    await goTo(page, 'dead')
    expect(await textOf()).toContain(hostile[1])
    await page.locator('td.main a').click()
    await page.getByRole('heading', { name: 'Error' }).waitFor()
    expect(await textOf()).toContain('Disk<b>')
    expect(await page.locator('main img, main script, main iframe').count()).toBe(0)
    const links: (string | null)[] = await page.locator('a:not(.skip)').evaluateAll(hrefsOf)
    expect(links.filter((href) => !href?.startsWith('#/'))).toEqual([])
    expect(faults).toEqual([])
  })

  test('the overview follows what happens', async () => {
    await goTo(page, 'overview')
    const waiting = page.locator('[data-tile="waiting"] .value')
    await waiting.waitFor()
    const before = Number(await waiting.innerText())
    await gateway.gearman('-b', '-f', 'mail', 'one more')
    await eventually(() => waiting.innerText()).toBe(String(before + 1))
    await page.getByText('Live', { exact: true }).first().waitFor()
    await eventually(() => page.locator('.plot canvas').count()).toBe(3)
  })

  test('filters live in the address, and a search is made while one types', async () => {
    const names = (): Promise<string[]> => page.locator('td.main').allInnerTexts()
    await goTo(page, 'jobs?text=plain+text')
    expect(await names()).toHaveLength(1)
    await page.reload()
    await goTo(page, 'jobs?text=plain+text')
    expect(await names()).toHaveLength(1)
    const plain = await names()
    await page.locator('main [data-search]').selectText()
    await page.keyboard.type('12345678901234567890')
    // Until the answer is there, the list shows the search before.
    await settled(page)
    expect(page.url()).toContain('text=12345678901234567890')
    expect(await names()).toHaveLength(1)
    expect(await names()).not.toEqual(plain)
    await page.locator('td.main a').click()
    await page.locator('pre.payload').waitFor()
    // The payload is shown as it was sent: no digit is lost.
    expect(await textOf('pre.payload')).toBe('{\n  "to": "Åsa",\n  "id": 12345678901234567890\n}')
    await page.getByRole('button', { name: 'Hex' }).click()
    await eventually(() => textOf('pre.payload')).toContain('00000000  7b 22 74 6f')
  })

  test('functions are sorted and searched', async () => {
    await goTo(page, 'functions')
    await page.getByRole('button', { name: 'Waiting' }).click()
    await eventually(async () => (await page.locator('td.main').allInnerTexts())[0]).toContain(
      'mail',
    )
    await page.locator('main [data-search]').selectText()
    await page.keyboard.type('res')
    await settled(page)
    expect(await page.locator('td.main').count()).toBe(1)
    expect(await textOf('tbody')).toContain('Gearman 1')
    await page.locator('svg.spark').waitFor()
  })

  test('workers, scheduled jobs and retries are there with their times', async () => {
    await faktory.beat()
    await goTo(page, 'workers')
    await page.getByText('looker-1').waitFor()
    await page.getByRole('link', { name: 'resize' }).waitFor()
    await goTo(page, 'scheduled')
    expect(await textOf('tbody')).toContain('scheduled-01')
    await goTo(page, 'retries')
    expect(await textOf()).toContain('No retries')
    // Due for its next try in 15 seconds at the earliest.
    const flaky = { jobtype: 'flaky', queue: 'flaky', args: [], retry: 5 }
    await faktory.push({ jid: 'retrying-001', ...flaky })
    await failed('flaky', 'retrying-001')
    await goTo(page, 'retries')
    expect(await textOf('tbody')).toMatch(/retrying-001[^]*in \d+/)
  })

  test('a worker shows its job and the job its worker', async () => {
    const job = { jid: 'held-000001', jobtype: 'longrun', queue: 'held', args: [1] }
    await faktory.push(job)
    await faktory.fetch('held')
    await goTo(page, 'workers')
    const row = page.locator('tr', { hasText: 'looker-1' })
    await row.getByText('longrun').waitFor()
    await row.getByRole('link', { name: 'looker-1' }).click()
    await page.getByRole('heading', { name: 'Its jobs' }).waitFor()
    await page.locator('td.main a').click()
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    expect(await textOf()).toMatch(/Runs at a Faktory worker looker-1/)
    expect(await textOf('dl.facts')).toMatch(/Worker\s+looker-1\s+[^]*127\.0\.0\.1:\d+/)
    expect(await textOf('dl.facts')).toMatch(/Worker has it since\s+(now|[\d.]+ m?s ago|\d+m)/)
    // All times are the viewer's, with the name of the zone.
    expect(await textOf('.timeline')).toMatch(
      /Runs at [^\n]*(now|ago)[^]*lease ends [-\d]+ [:\d]+ UTC/,
    )
    const titles: (string | null)[] = await page.locator('main time').evaluateAll(titlesOf)
    expect(titles.filter((title) => !/^[-\d]{10} [:\d]{8} UTC$/.test(title ?? ''))).toEqual([])
    await faktory.ack('held-000001')
    await goTo(page, 'nodes')
    expect(await textOf('tbody')).toMatch(/alive[^]*pid \d+[^]*Faktory 127\.0\.0\.1:\d+/)
  })

  test('the pages of a function and a queue show figures, workers and failures by their error', async () => {
    await goTo(page, 'functions')
    await page.getByRole('link', { name: 'broken' }).click()
    await page.getByRole('heading', { name: 'Failures' }).waitFor()
    const failure = page
      .locator('section', { hasText: 'Failures' })
      .locator('tr', { hasText: 'Disk<b>' })
    await failure.getByText(hostile[1]).waitFor()
    await expect.poll(() => page.locator('.plot canvas').count()).toBe(3)
    expect(await page.getByRole('button', { name: 'Retry these' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Tried again' }).click()
    await page.getByText('No failed jobs here').waitFor()
    await page.getByRole('link', { name: 'broken' }).last().click()
    await page.getByRole('heading', { name: 'Its functions' }).waitFor()
    await page.locator('tr', { hasText: 'Disk<b>' }).waitFor()
    await goTo(page, 'function/resize')
    await page.getByRole('heading', { name: 'Workers' }).waitFor()
    expect(await textOf()).toMatch(/127\.0\.0\.1:\d+/)
  })

  test('what happened is in the plots of the hour', async () => {
    // This node adds what it has counted every ten seconds.
    const submitted = () => page.evaluate(submittedLately)
    await eventually(submitted).toBeGreaterThan(hostile.length)
    await goTo(page, 'overview?span=hour')
    await eventually(() => page.locator('[data-span="hour"] .plot canvas').count()).toBe(3)
    const legend = page.locator('.legend').first()
    expect(await legend.innerText()).toMatch(/Submitted \d+/)
  })

  test('all of it is reached by keys', async () => {
    await goTo(page, 'jobs')
    await page.locator('td.main').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    const first = await page.locator('td.main a').first().getAttribute('data-job')
    const focused = page.locator(':focus')
    expect(await focused.getAttribute('data-job')).toBe(first)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused.getAttribute('data-job')).toBe(first)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    // A screen reader goes on at the new page.
    expect(await focused.evaluate(tagOf)).toBe('H1')
  })

  test('every field and button says what it is', async () => {
    for (const place of readerPages) {
      await goTo(page, place)
      const nameless = await page
        .locator('button, a, input, select, textarea, [role="img"]')
        .evaluateAll(namelessOf)
      expect([place, nameless]).toEqual([place, []])
    }
  })

  test.each(['light', 'dark'] as const)(
    'nothing is wider than a small telephone, %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width: 360, height: 740 })
      const ground = (): Promise<unknown> => page.locator('html').evaluate(groundOf)
      const expected = colorScheme === 'light' ? 'rgb(245, 246, 249)' : 'rgb(14, 17, 23)'
      await expect.poll(ground).toBe(expected)
      const details = ['job/none', 'worker/none', 'function/broken', 'queue/broken']
      for (const place of [...readerPages, ...details]) {
        await goTo(page, place)
        if (place === 'function/broken')
          await page.locator('[data-runs] tbody tr').first().waitFor()
        const width = await page.locator('html').evaluate(widthOf)
        expect([place, width]).toEqual([place, 360])
      }
      await page.setViewportSize({ width: 1280, height: 860 })
    },
  )

  test('a call that a busy gateway refuses is made again after the wait that it is told, and no error is shown meanwhile', async () => {
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
    await page.unroute('**/api/v1/jobs?*')
    expect(faults).toEqual([])
  })
})
