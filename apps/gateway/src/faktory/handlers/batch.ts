import { error } from '@crossgear/fwp-codec'
import type { Handler } from './handler.ts'

/** `BATCH ...`: not offered. */
export const batch: Handler = (session) => {
  session.send(error('batches are not supported'))
}
