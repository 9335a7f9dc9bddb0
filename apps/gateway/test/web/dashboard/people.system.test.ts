import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'faktory-worker'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { hashes, passwords, type Name } from '../api/support/people.ts'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { confirmed, goTo, lacksChromium } from './support/browser.ts'
import type { DashboardGateway } from './support/dashboard-gateway.ts'
import { openDashboard } from './support/open-dashboard.ts'

let gateway: DashboardGateway
let page: Page

const file = `
[operators.alice]
password_hash = "${hashes.alice}"
role = "operate"
queues = ["mail*"]

[operators.bob]
password_hash = "${hashes.bob}"
role = "operate"

[operators.carol]
password_hash = "${hashes.carol}"
role = "admin"

[[cron]]
name = "nightly"
schedule = "0 3 * * *"
job = { jobtype = "report", args = [] }
`

async function signInAs(name: Name): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(passwords[name])
  await page.getByRole('button', { name: 'Sign in' }).click()
}

describe.skipIf(lacksChromium || lacksRedis)('people at the dashboard', () => {
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'crossgear-people-'))
    const config = join(folder, 'crossgear.toml')
    await writeFile(config, file)
    const opened = await openDashboard(undefined, '--config', config)
    ;({ gateway, page } = opened)
    return async () => {
      await opened.close()
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('sign in by name; operate deletes a job, and has neither audit nor what is for admins', async () => {
    const client = await FwpClient.ofTest(gateway.port('faktory'), {})
    const at = new Date(Date.now() + 3_600_000).toISOString()
    await client.push('scheduled-1', { jobtype: 'f', at })
    await goTo(page, 'scheduled')
    await signInAs('bob')
    await page.getByText('bob (operate)').waitFor()
    expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0)
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.getByRole('button', { name: 'Delete', exact: true }).first().click()
    const words = await page.getByRole('dialog').innerText()
    expect(words).toContain('For a day an admin can bring them back on the page Audit')
    expect(words).not.toContain('for good')
    await confirmed(page, 'Delete')
    await page.getByText('1 job deleted. The page Audit can undo it for a day.').waitFor()
    await page.getByText('scheduled-1').waitFor({ state: 'detached' })
    await goTo(page, 'functions')
    const acts = await page.getByLabel('Acts on f').locator('option').allTextContents()
    expect(acts).toContain('Pause')
    expect(acts).not.toContain('Drop')
  })

  test('an admin sees who did it on the page Audit, and undoes it once', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signInAs('carol')
    await page.getByText('carol (admin)').waitFor()
    await page.getByRole('link', { name: 'Audit' }).click()
    const row = page.getByRole('row').filter({ hasText: 'deleteJobs' })
    await row.getByText('bob').waitFor()
    await row.getByText('Deleted jobs').waitFor()
    // The target is in words: no JSON.
    expect(await row.innerText()).not.toMatch(/[{}"]/)
    await page.getByLabel('Acts of the person').fill('carol')
    await page.getByText('No act matches').waitFor()
    await page.getByLabel('Acts of the person').fill('')
    await page.getByLabel('When').selectOption('The last hour')
    const acts = page.locator('label.choice', { hasText: 'Any act' }).locator('select')
    await acts.selectOption('Paused queues')
    await page.getByText('No act matches').waitFor()
    expect(page.url()).toContain('since_seconds=3600')
    expect(page.url()).toContain('operation=pauseQueues')
    await acts.selectOption('Deleted jobs')
    await row.getByRole('button', { name: 'Undo' }).click()
    await confirmed(page, 'Undo')
    await page.getByText('1 job back.').waitFor()
    await row.getByText('undone').waitFor()
    await goTo(page, 'scheduled')
    await page.getByText('scheduled-1').waitFor()
  })

  test('somebody with a part of the queues sees figures of those, is told so, and is offered what they may do', async () => {
    const client = new Client({ host: '127.0.0.1', port: gateway.port('faktory'), wid: 'looker-1' })
    await client.connect()
    onTestFinished(() => client.close())
    await client.push({ jid: 'dead-000001', jobtype: 'f', queue: 'others', args: [], retry: -1 })
    await client.fetch('others')
    await client.fail('dead-000001', new Error('as always'))
    await client.push({ jid: 'mail-000001', jobtype: 'mail.send', queue: 'mail', args: [] })
    const dead = page.locator('[data-tile="dead"] .value')
    await goTo(page, 'overview')
    await expect.poll(() => dead.innerText()).toBe('1')
    await goTo(page, 'workers')
    await page
      .getByRole('row', { name: 'looker-1' })
      .getByRole('button', { name: 'Stop' })
      .waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('Read only').waitFor()
    await signInAs('alice')
    await page.getByText('alice (operate)').waitFor()
    await page.getByRole('row', { name: 'looker-1' }).waitFor()
    expect(await page.getByRole('button', { name: /^(Quiet|Stop)/ }).count()).toBe(0)
    for (const [place, words] of [
      ['cron', 'No entries of yours'],
      ['dead', 'No dead jobs of yours'],
    ] as const) {
      await goTo(page, place)
      await page.getByText(words, { exact: true }).waitFor()
      await page.getByText('you see those of mail* alone').waitFor()
    }
    await goTo(page, 'overview')
    await page.getByText('Functions and queues of mail*').waitFor()
    await expect.poll(() => dead.innerText()).toBe('0')
    expect(await page.locator('[data-tile="waiting"] .value').innerText()).toBe('1')
    expect(await page.locator('main tbody').innerText()).toContain('mail.send')
    expect(await page.getByRole('link', { name: /^Dead/ }).first().innerText()).toBe('Dead')
  })
})
