import { bulk, error } from '@crossgear/fwp-codec'
import { asStoreError } from '../open-lanes.ts'
import { storeErrorText } from '../store-error-text.ts'
import type { Handler } from './handler.ts'

/** `INFO`: a bulk string, the JSON of the server's figures. */
export const info: Handler = (session) => {
  const place = session.reserve()
  session.context.info.json().then(
    (json) => place.fill(bulk(json)),
    (problem: unknown) => place.fill(error(storeErrorText(asStoreError(problem)))),
  )
}
