import { Client } from 'faktory-worker'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { confirmed, goTo, lacksChromium, signIn } from './support/browser.ts'
import { type DashboardGateway, operatorPassword } from './support/dashboard-gateway.ts'
import { openDashboard } from './support/open-dashboard.ts'

let gateway: DashboardGateway
let page: Page
let faktory: Client
let clicks = 0

const later = '2099-01-01T00:00:00Z'

async function click(target: Locator): Promise<void> {
  clicks += 1
  await target.click()
}

const dialog = (): Locator => page.getByRole('dialog')
const inPage = (name: string): Locator =>
  page.locator('main').getByRole('button', { name, exact: true })

describe.skipIf(lacksChromium || lacksRedis)('an act where one reads', () => {
  beforeAll(async () => {
    const opened = await openDashboard()
    ;({ gateway, page } = opened)
    faktory = new Client({ host: '127.0.0.1', port: gateway.port('faktory'), wid: 'act-1' })
    await faktory.connect()
    await signIn(page)
    return async () => {
      await faktory.close()
      await opened.close()
    }
  })
  beforeEach(() => {
    clicks = 0
  })

  test('edits and replaces a job with three clicks, and its worker gets the new one alone', async () => {
    await faktory.push({ jid: 'edited-001', jobtype: 'edit', queue: 'edit', args: [1], retry: 7 })
    await goTo(page, 'job/edited-001')
    await click(inPage('Edit and resubmit'))
    await dialog().getByLabel('Payload').fill('[2]')
    await click(dialog().getByLabel('Replace the old job'))
    expect(await dialog().getByLabel('Queue').count()).toBe(0)
    await click(dialog().getByRole('button', { name: 'Replace the job' }))
    await page.getByText('The job is replaced.').waitFor()
    await page.getByText('Run again of').waitFor()
    expect(clicks).toBe(3)
    const job = await faktory.fetch('edit')
    expect(job).toMatchObject({ jid: 'edited-001', args: [2], retry: 7 })
    expect(await faktory.fetch('edit')).toBeNull()
  })

  test('says that a worker took the job before it could be replaced', async () => {
    await faktory.push({ jid: 'edited-002', jobtype: 'edit', queue: 'edit', args: [1] })
    await goTo(page, 'job/edited-002')
    await inPage('Edit and resubmit').click()
    await dialog().getByLabel('Replace the old job').check()
    expect(await faktory.fetch('edit')).toMatchObject({ jid: 'edited-002' })
    await dialog().getByRole('button', { name: 'Replace the job' }).click()
    await dialog().getByText('a worker has the job by now').waitFor()
    await faktory.ack('edited-002')
    await page.keyboard.press('Escape')
  })

  test('pauses, resumes and opens a function on its page', async () => {
    await gateway.gearman('-b', '-f', 'held', 'x')
    await goTo(page, 'function/held')
    const head = page.locator('.page-head')
    await click(head.getByRole('button', { name: 'Pause', exact: true }))
    await click(dialog().getByRole('button', { name: 'Pause', exact: true }))
    await page.locator('main p[data-waits="paused"]').waitFor()
    expect(clicks).toBe(2)
    await head.getByRole('button', { name: 'Resume', exact: true }).click()
    await dialog().getByRole('button', { name: 'Resume', exact: true }).click()
    await page.locator('main p[data-waits="no_worker"]').waitFor()
    await goTo(page, 'functions?contains=held')
    await page.getByLabel('Acts on held').selectOption({ label: 'Close to Faktory' })
    await confirmed(page, 'Close to Faktory')
    await goTo(page, 'function/held')
    await head.getByRole('button', { name: 'Open to Faktory' }).click()
    await confirmed(page, 'Open to Faktory')
    expect(await faktory.fetch('default')).toMatchObject({ jobtype: 'held' })
  })

  test('empties a function of more jobs than one call takes, as one act that one click undoes', async () => {
    const jobs = Array.from({ length: 1_200 }, (_none, at) => ({
      jid: `many-${String(at).padStart(5, '0')}`,
      jobtype: 'many',
      queue: 'many',
      args: [at],
    }))
    expect(await faktory.pushBulk(jobs)).toEqual({})
    await faktory.push({ jid: 'later-0001', jobtype: 'many', queue: 'many', args: [], at: later })
    await goTo(page, 'function/many')
    await page.locator('.page-head').getByRole('button', { name: 'Empty' }).click()
    await page.locator('[data-tally="ready"]').waitFor()
    expect(await page.locator('[data-tally="ready"] .big-number').innerText()).toBe('1,200')
    await confirmed(page, 'Empty')
    await page.getByText('1,200 jobs deleted.').waitFor()
    await goTo(page, 'audit?operation=deleteJobs')
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await rows.first().innerText()).toContain('1,200')
    clicks = 0
    await click(page.locator('.toast').getByRole('button', { name: 'Undo' }))
    await page.getByText('1,200 jobs are back.').waitFor()
    expect(clicks).toBe(1)
    await rows.first().getByText('undone').waitFor()
    expect(await faktory.fetch('many')).toMatchObject({ jid: 'many-00000' })
  })

  test('drops a function with all its jobs, which an undo brings back, and none that has workers', async () => {
    for (const words of ['one', 'two']) await gateway.gearman('-b', '-f', 'gone', words)
    const worker = gateway.spawnGearman('-w', '-f', 'busy', 'cat')
    await gateway.gearman('-f', 'busy', 'x')
    await goTo(page, 'function/busy')
    await page.locator('.page-head').getByRole('button', { name: 'Drop' }).click()
    await dialog().getByText('cannot be dropped').waitFor()
    await page.keyboard.press('Escape')
    worker.kill()
    await goTo(page, 'functions?contains=gone')
    await page.getByLabel('Acts on gone').selectOption({ label: 'Drop' })
    await confirmed(page, 'Drop')
    await page.getByText('2 jobs deleted. The function is dropped.').waitFor()
    await page.getByText('No function has that in its name').waitFor()
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('2 jobs are back.').waitFor()
    expect((await gateway.gearman('-w', '-c', '2', '-f', 'gone')).output).toBe('onetwo')
  })

  test('shows what is wrong first, each with the act or the link that mends it, and who paused what', async () => {
    await gateway.gearman('-b', '-f', 'wrong', 'x')
    await faktory.push({ jid: 'wrong-0001', jobtype: 'fails', queue: 'fails', args: [], retry: -1 })
    await faktory.fetch('fails')
    await faktory.fail('wrong-0001', new Error('no answer'))
    const leaver = new Client({ host: '127.0.0.1', port: gateway.port('faktory'), wid: 'act-2' })
    await leaver.connect()
    await leaver.push({ jid: 'left-00001', jobtype: 'left', queue: 'left', args: [] })
    await leaver.fetch('left')
    await leaver.close()
    for (const [kind, name] of [
      ['functions', 'wrong'],
      ['queues', 'fails'],
    ] as const) {
      await page.request.post(`/api/v1/${kind}/pause`, {
        headers: { Authorization: `Bearer ${operatorPassword}` },
        data: { [kind]: [name] },
      })
    }
    await goTo(page, 'overview')
    const row = (code: string): Locator => page.locator(`[data-trouble="${code}"]`)
    await row('paused_queue').getByText('Paused by an operator since').waitFor()
    await row('vanished').getByText('A worker vanished with a job').waitFor()
    await row('error').getByText('no answer').waitFor()
    await page.locator('[data-store]').getByText('noeviction').waitFor()
    // The list is above all figures.
    const tops = await Promise.all(
      ['.troubles', '.tiles'].map((part) => page.locator(part).boundingBox()),
    )
    expect(tops[0]?.y).toBeLessThan(tops[1]?.y ?? 0)
    await click(row('paused_function').getByRole('button', { name: 'Resume' }))
    await click(dialog().getByRole('button', { name: 'Resume' }))
    await row('paused_function').waitFor({ state: 'detached' })
    expect(clicks).toBe(2)
    clicks = 0
    await click(row('vanished').getByRole('link'))
    await page.locator('td.main [data-waits="vanished"]').waitFor()
    expect(clicks).toBe(1)
  })
})
