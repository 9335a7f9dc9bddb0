import { once } from 'node:events'
import { Client, Worker } from 'faktory-worker'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, onTestFailed, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { confirmed, goTo, lacksChromium } from './support/browser.ts'
import { type DashboardGateway, operatorPassword } from './support/dashboard-gateway.ts'
import { openDashboard } from './support/open-dashboard.ts'

/** Pages show what is new within a second or two, and later on a busy machine. */
const eventually = <Value>(look: () => Value) => expect.poll(look)

let gateway: DashboardGateway
let page: Page
let client: Client
let worker: Worker
/** Arguments of jobs that the stock worker ran, in order. */
const ran: unknown[] = []

/** Clicks a button of the page, then confirms in its dialog. */
async function act(button: string): Promise<void> {
  await page.locator('main').getByRole('button', { name: button, exact: true }).first().click()
  await confirmed(page, button)
}

/** Opens the page of the one job that a filter takes. */
async function openJobOf(filter: string): Promise<void> {
  await goTo(page, `jobs?${filter}`)
  await page.locator('td.main a').click()
}

/** Payloads of so many jobs, as a stock worker prints them. */
const workedOff = async (jobs: number, fn: string): Promise<string> =>
  (await gateway.gearman('-w', '-c', String(jobs), '-f', fn)).output

async function push(jid: string, fields: object): Promise<void> {
  await client.push({ jid, jobtype: 'work', queue: 'work', args: [jid], ...fields })
}

describe.skipIf(lacksChromium || lacksRedis)('acts by the dashboard', () => {
  beforeAll(async () => {
    const opened = await openDashboard()
    ;({ gateway, page } = opened)
    const place = { host: '127.0.0.1', port: gateway.port('faktory') }
    client = new Client(place)
    worker = new Worker({
      ...place,
      queues: ['work', 'other'],
      concurrency: 1,
      wid: 'stock-worker',
      beatInterval: 1,
      registry: {
        work: (...args: unknown[]) => void ran.push(...args),
        broken: (...args: unknown[]) => {
          ran.push(...args)
          throw new Error('as always')
        },
      },
    })
    await client.connect()
    await worker.work()
    return async () => {
      await worker.stop()
      await client.close()
      await opened.close()
    }
  })

  test('need the password', async () => {
    await goTo(page, 'jobs')
    expect(await page.getByRole('button', { name: 'New job' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Password').fill('guessed')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The password is wrong.').waitFor()
    await page.getByLabel('Password').fill(operatorPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Operator', { exact: true }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'New job' }).waitFor()
  })

  test('a new job reaches a worker', async () => {
    await goTo(page, 'jobs')
    await page.getByRole('button', { name: 'New job' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Function').fill('work')
    await dialog.getByLabel('Queue').fill('work')
    await dialog.getByLabel('Payload').fill('["made by hand"]')
    await confirmed(page, 'Submit the job')
    await eventually(() => ran).toContain('made by hand')
  })

  test('a dead job is queued once more, and a scheduled one runs now', async () => {
    await push('dead-0000001', { jobtype: 'broken', retry: -1 })
    await goTo(page, 'dead')
    await page.getByText('dead-0000001').first().waitFor()
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await act('Retry now')
    await eventually(() => ran.filter((jid) => jid === 'dead-0000001')).toHaveLength(2)
    await push('scheduled-01', { at: '2099-01-01T00:00:00Z' })
    await goTo(page, 'scheduled')
    await page.getByText('scheduled-01').first().waitFor()
    await page.locator('td.main a').click()
    await act('Retry now')
    await eventually(() => ran).toContain('scheduled-01')
    await page.getByText('The page shows how it was.').waitFor()
  })

  test('jobs with one error are queued together, those with another stay, and attempts are listed', async () => {
    const place = { jobtype: 'grouped', queue: 'grouped', retry: -1 }
    for (const [jid, message] of [
      ['grouped-001', 'no answer'],
      ['grouped-002', 'no answer'],
      ['grouped-003', 'disk is full'],
    ] as const) {
      await push(jid, place)
      await client.fetch('grouped')
      await client.fail(jid, new Error(message))
    }
    await goTo(page, 'function/grouped')
    // Runs with these errors may be listed below.
    const groups = page.getByRole('table', { name: 'Failures by their error' })
    const group = groups.locator('tr', { hasText: 'no answer' })
    await group.getByRole('button', { name: 'Retry these' }).click()
    await page.locator('[data-tally="ready"] .big-number').waitFor()
    await confirmed(page, 'Retry now')
    await expect.poll(() => group.count()).toBe(0)
    await groups.locator('tr', { hasText: 'disk is full' }).waitFor()
    const again = [await client.fetch('grouped'), await client.fetch('grouped')]
    expect(again.map((job) => job?.jid).sort()).toEqual(['grouped-001', 'grouped-002'])
    await client.ack('grouped-002')
    await client.fail('grouped-001', new Error('still no answer'))
    await openJobOf('jid=grouped-001')
    const attempts = page.locator('.timeline li.failed')
    await expect
      .poll(() => attempts.allInnerTexts())
      .toEqual([
        expect.stringMatching(/Run 1 failed after [^]*no answer/),
        expect.stringMatching(/Run 2 failed after [^]*still no answer/),
      ])
    // Each has its own backtrace.
    const traces = attempts.locator('pre.backtrace')
    expect(await traces.count()).toBe(2)
    await attempts.first().getByText('Backtrace').click()
    await expect.poll(() => traces.first().innerText()).toMatch(/Error: no answer|at /)
  })

  test('a paused queue hands out nothing until it is resumed', async () => {
    await goTo(page, 'queues')
    const row = page.getByRole('row').filter({ hasText: /^work/ })
    await row.getByRole('button', { name: 'Pause' }).click()
    await confirmed(page, 'Pause')
    await row.getByText('Paused', { exact: true }).waitFor()
    await push('held-0000001', {})
    await push('free-0000001', { queue: 'other' })
    await eventually(() => ran).toContain('free-0000001')
    expect(ran).not.toContain('held-0000001')
    await row.getByRole('button', { name: 'Resume' }).click()
    await confirmed(page, 'Resume')
    await eventually(() => ran).toContain('held-0000001')
  })

  test('a job is moved to a queue that has a worker', async () => {
    await push('moved-000001', { queue: 'nobody' })
    await goTo(page, 'jobs?queue=nobody')
    await page.getByText('moved-000001').first().waitFor()
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.locator('.bar').getByRole('button', { name: 'Move' }).click()
    await page.getByLabel('To the queue').fill('other')
    await page.getByRole('button', { name: 'Count the jobs' }).click()
    await page.locator('[data-tally="ready"]').getByText('job would be moved').waitFor()
    await confirmed(page, 'Move')
    await eventually(() => ran).toContain('moved-000001')
  })

  test('a row is opened by two keys, and its acts are two keys from its box', async () => {
    for (const fn of ['keyed', 'keyed', 'keyed']) await gateway.gearman('-b', '-f', fn, 'x')
    await goTo(page, 'jobs?function=keyed')
    const links = page.locator('td.main a')
    const first = await links.first().getAttribute('data-job')
    const press = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key)
    }
    const focused = page.locator(':focus')
    await press('j', 'j', 'x', 'k', 'x')
    await page.getByText('2 jobs selected').waitFor()
    await press('a')
    expect(await focused.innerText()).toBe('Retry now')
    await page.getByRole('checkbox', { name: `Select ${first ?? ''}`, exact: true }).focus()
    await press('Tab')
    expect(await focused.innerText()).toBe('Acts on the selection')
    await press('Enter')
    expect(await focused.innerText()).toBe('Retry now')
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.reload()
    await links.first().waitFor()
    await press('j', 'Enter')
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    expect(page.url()).toContain(encodeURIComponent(first ?? ''))
  })

  test('matching jobs are counted before they are deleted, and others stay', async () => {
    for (let n = 0; n < 12; n += 1) await gateway.gearman('-b', '-f', 'heap', `spam ${n}`)
    await gateway.gearman('-b', '-f', 'heap', 'ham')
    await goTo(page, 'jobs?function=heap&text=spam')
    expect(await page.locator('td.main').count()).toBe(12)
    await page.getByRole('button', { name: 'Act on all that match' }).click()
    await page.locator('.bar').getByRole('button', { name: 'Delete' }).click()
    const tally = page.locator('[data-tally="ready"]')
    await tally.waitFor()
    expect(await tally.innerText()).toContain('12')
    await confirmed(page, 'Delete')
    await page.getByText('12 jobs deleted.').waitFor()
    await goTo(page, 'jobs?function=heap')
    await eventually(() => page.locator('td.main').count()).toBe(1)
  })

  test('one job is deleted, and no worker gets it', async () => {
    await gateway.gearman('-b', '-f', 'single', 'kept')
    await gateway.gearman('-b', '-f', 'single', 'gone')
    await openJobOf('function=single&text=gone')
    await act('Delete')
    await page.getByText('1 job deleted.').waitFor()
    await gateway.gearman('-b', '-f', 'single', ', last')
    expect(await workedOff(2, 'single')).toBe('kept, last')
  })

  test('a function is dropped with its jobs, and a later worker gets none', async () => {
    await gateway.gearman('-b', '-f', 'surplus', 'dropped')
    await goTo(page, 'functions?contains=surplus')
    await page.getByLabel('Acts on surplus').selectOption({ label: 'Drop' })
    await confirmed(page, 'Drop')
    await page.getByText('No function has that in its name').waitFor()
    await gateway.gearman('-b', '-f', 'surplus', 'anew')
    expect(await workedOff(1, 'surplus')).toBe('anew')
  })

  test('the actions of a function stay visible, however long its name is', async () => {
    const name = `long-${'x'.repeat(100)}`
    await gateway.gearman('-b', '-f', name, 'x')
    await goTo(page, 'functions?contains=long-x')
    const box = await page.getByLabel(`Acts on ${name}`).boundingBox()
    const { width = 0 } = page.viewportSize() ?? {}
    expect((box?.x ?? width) + (box?.width ?? 1)).toBeLessThanOrEqual(width)
  })

  test('a waiting client gets the cancellation, as the page announces', async () => {
    const waiting = gateway.spawnGearman('-f', 'slow', 'x')
    const ended = once(waiting, 'close')
    await openJobOf('function=slow')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('1 client that waits for it will get WORK_FAIL.').waitFor()
    await confirmed(page, 'Cancel')
    expect((await ended)[0]).not.toBe(0)
  })

  test('a job is edited and submitted again, with a reference to the old one', async () => {
    await gateway.gearman('-b', '-f', 'edit', 'first words')
    await openJobOf('function=edit')
    await page.getByRole('button', { name: 'Edit and resubmit' }).click()
    const field = page.getByRole('dialog').getByLabel('Payload')
    expect(await field.inputValue()).toBe('first words')
    await field.fill('second wörds')
    await confirmed(page, 'Submit the new job')
    await page.getByText('Run again of').waitFor()
    expect(await workedOff(2, 'edit')).toBe('first wordssecond wörds')
  })

  test('a function is closed to Faktory consumers and opened again', async () => {
    await gateway.gearman('-b', '-f', 'work@other', '["before"]')
    await eventually(() => ran).toContain('before')
    const row = page.getByRole('row').filter({ hasText: 'in other' })
    const choose = async (what: string, rule: string): Promise<void> => {
      await goTo(page, 'functions?contains=work')
      await row.getByRole('combobox').selectOption({ label: what })
      await confirmed(page, what)
      await row.getByText(rule).waitFor()
    }
    await choose('Close to Faktory', 'by an operator')
    await gateway.gearman('-b', '-f', 'work@other', '["later"]')
    await push('in-work-0001', {})
    await eventually(() => ran).toContain('in-work-0001')
    expect(ran).not.toContain('later')
    await choose('Open to Faktory', 'for good')
    await eventually(() => ran).toContain('later')
  })

  test('a paused function hands out nothing to a by-name worker until it is resumed', async () => {
    await gateway.gearman('-b', '-f', 'still', 'one')
    const choose = async (what: string): Promise<void> => {
      await goTo(page, 'functions?contains=still')
      await page.getByLabel('Acts on still').selectOption({ label: what })
      await confirmed(page, what)
    }
    await choose('Pause')
    await page.getByRole('row').getByText('Paused', { exact: true }).waitFor()
    const lines = gateway.spawnGearman('-w', '-f', 'still', '-f', 'brisk')
    let heard = ''
    lines.stdout?.on('data', (chunk: Buffer) => (heard += chunk.toString()))
    await gateway.gearman('-b', '-f', 'brisk', 'two')
    await eventually(() => heard).toBe('two')
    await choose('Resume')
    await eventually(() => heard).toBe('twoone')
  })

  test('a batch is in the list, and its page shows its progress', async () => {
    const success = { jobtype: 'work', queue: 'other', args: ['called back'] }
    const batch = JSON.stringify({ description: 'nightly <b>', success })
    const bid = await client.send(['BATCH NEW', batch])
    await push('in-batch-001', { queue: 'nobody', custom: { bid } })
    await client.send(['BATCH COMMIT', bid])
    await goTo(page, 'batches')
    await page.getByRole('link', { name: 'nightly <b>' }).click()
    await page.getByText('Callback success').waitFor()
    expect(await page.locator('.tile').first().innerText()).toMatch(/Jobs\s*1/)
  })

  test('a worker ends when it is ordered to stop', async () => {
    const place = { host: '127.0.0.1', port: gateway.port('faktory') }
    const leaver = new Worker({ ...place, wid: 'leaver', beatInterval: 1, queues: ['nothing'] })
    const stop = vi.spyOn(leaver, 'stop')
    await leaver.work()
    onTestFailed(() => leaver.stop())
    await goTo(page, 'workers')
    const row = page.getByRole('row').filter({ hasText: 'leaver' })
    await row.getByRole('button', { name: 'Stop' }).click()
    await confirmed(page, 'Stop')
    await row.waitFor({ state: 'detached' })
    expect(stop).toHaveBeenCalledOnce()
  })

  test('a worker that is ordered to be quiet takes no more jobs', async () => {
    await goTo(page, 'workers')
    await act('Quiet')
    await page.locator('main').getByText('quiet', { exact: true }).waitFor()
    await push('after-quiet1', {})
    expect(await client.fetch('work')).toMatchObject({ jid: 'after-quiet1' })
    expect(ran).not.toContain('after-quiet1')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('Read only').waitFor()
  })
})
