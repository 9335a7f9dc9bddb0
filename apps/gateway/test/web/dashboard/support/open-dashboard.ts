import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { startBrowser } from './browser.ts'
import { type DashboardGateway, startDashboardGateway } from './dashboard-gateway.ts'

export interface OpenDashboard {
  readonly gateway: DashboardGateway
  readonly page: Page
  /** Errors of scripts and more so far. */
  readonly faults: readonly string[]
  /** Ends both, and fails where the browser has met a fault. */
  readonly close: () => Promise<void>
}

/** A gateway with these words, what is to be in it first, and a browser at its dashboard. */
export async function openDashboard(
  fill: (gateway: DashboardGateway) => Promise<unknown> = () => Promise.resolve(),
  ...words: readonly string[]
): Promise<OpenDashboard> {
  const gateway = await startDashboardGateway(...words)
  await fill(gateway)
  const { page, faults, close } = await startBrowser(gateway.port('web'))
  return {
    gateway,
    page,
    faults,
    close: async () => {
      await close()
      await gateway.close()
      expect(faults).toEqual([])
    },
  }
}
