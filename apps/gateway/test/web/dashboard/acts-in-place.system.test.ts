import { Client } from 'faktory-worker'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { goTo, lacksChromium, signIn } from './support/browser.ts'
import type { DashboardGateway } from './support/dashboard-gateway.ts'
import { openDashboard } from './support/open-dashboard.ts'

let gateway: DashboardGateway
let page: Page
let faktory: Client
let clicks = 0

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
})
