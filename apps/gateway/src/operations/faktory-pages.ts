import { toStoreError } from '@crossgear/core-scheduler'
import { json, type Page } from './page.ts'
import { storeErrorText, type StoreRejected } from '../doors/net/store-refusal.ts'
import type { FaktoryDoor } from '../doors/faktory/faktory-door.ts'

/** The JSON pages of the Faktory server's web port that monitoring reads: figures and names, but no jobs. */
export function faktoryPages(
  door: FaktoryDoor,
  rejected?: StoreRejected,
): Readonly<Record<string, Page>> {
  return {
    '/health': () => Promise.resolve(json(200, door.health())),
    '/stats': async () => {
      try {
        const type = 'application/json; charset=utf-8'
        return { status: 200, type, body: `${await door.info()}\n` }
      } catch (error) {
        const text = storeErrorText(toStoreError(error), (cause) =>
          rejected?.('store', undefined, cause),
        )
        return json(503, { error: text })
      }
    },
  }
}
