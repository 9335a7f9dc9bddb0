import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { hashes, passwords, type Name } from '../api/support/people.ts'
import { FwpClient } from '../faktory/support/fwp-client.ts'
import { confirmed, goTo, lacksChromium } from './support/browser.ts'
import type { DashboardGateway } from './support/dashboard-gateway.ts'
import { openDashboard } from './support/open-dashboard.ts'

let gateway: DashboardGateway
let page: Page

const file = `
[operators.bob]
password_hash = "${hashes.bob}"
role = "operate"

[operators.carol]
password_hash = "${hashes.carol}"
role = "admin"
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
    await confirmed(page, 'Delete')
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
    await row.getByRole('button', { name: 'Undo' }).click()
    await confirmed(page, 'Undo')
    await page.getByText('1 job back.').waitFor()
    await row.getByText('undone').waitFor()
    await goTo(page, 'scheduled')
    await page.getByText('scheduled-1').waitFor()
  })
})
