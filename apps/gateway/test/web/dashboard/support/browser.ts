import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lacksUnless } from '@crossgear/tools/lacks'
import { chromium, type Page } from 'playwright-core'
import { operatorPassword } from './dashboard-gateway.ts'

/** Debian's Chromium: without windows it takes a fifth to a half less of the processor. */
const [shell, whole] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const
const executablePath = existsSync(shell) ? shell : whole

/** True where there is no Chromium to test with; a build machine must have one. */
export const lacksChromium = lacksUnless('chromium', () => existsSync(executablePath))

export interface TestBrowser {
  readonly page: Page
  /** Errors of scripts, breaches of the policy, dialogs, and requests to anywhere else. */
  readonly faults: readonly string[]
  readonly close: () => Promise<void>
}

/** Said by a browser of an answer of the API that refuses, which pages show in their own words. */
const refusedCall = /^Failed to load resource: the server responded with a status of 4\d\d/

/** Says in the console what the policy of the page has forbidden. */
const reportBreaches = `document.addEventListener('securitypolicyviolation', (breach) => {
  console.error('the policy was broken: ' + breach.violatedDirective + ' ' + breach.blockedURI)
})`

/** A browser that has never been anywhere, at the dashboard of a port. */
export async function startBrowser(webPort: number): Promise<TestBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'crossgear-browser-'))
  const base = `http://127.0.0.1:${webPort}`
  const context = await chromium.launchPersistentContext(folder, {
    executablePath,
    baseURL: base,
    headless: true,
    timezoneId: 'UTC',
    locale: 'en-US',
    viewport: { width: 1280, height: 860 },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  const faults: string[] = []
  // Runs before any script of a page.
  await context.addInitScript({ content: reportBreaches })
  const page = context.pages()[0] ?? (await context.newPage())
  page.on('console', (message) => {
    if (message.type() === 'error' && !refusedCall.test(message.text())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${base}/`) && !url.startsWith('data:')) faults.push(`a request to ${url}`)
  })
  page.setDefaultTimeout(60_000)
  return {
    page,
    faults,
    close: async () => {
      await context.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Goes to a page of the dashboard, and waits until it shows what it has read. */
export async function goTo(page: Page, place: string): Promise<void> {
  await page.goto(`/#/${place}`)
  await page.locator(`main[data-place="#/${place}"] h1`).waitFor()
  await settled(page)
}

/** Makes the viewer an operator, from whom pages take orders. */
export async function signIn(page: Page): Promise<void> {
  await goTo(page, 'overview')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Password').fill(operatorPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Operator', { exact: true }).waitFor()
}

/** Presses a button of the dialog's foot, and waits until the dialog is gone. */
export async function confirmed(page: Page, button: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.locator('footer').getByRole('button', { name: button, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Shown while a list is not yet that of its filters and its search. */
const unsettled = 'main :is([aria-busy="true"], [data-search="ahead"], .loading)'

/** Waits until the list is that of the filters and the search as they are now. */
export async function settled(page: Page): Promise<void> {
  await page.locator(unsettled).first().waitFor({ state: 'detached' })
}
