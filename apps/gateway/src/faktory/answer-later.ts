import { error } from '@crossgear/fwp-codec'
import type { Session } from './session.ts'
import { asStoreError, storeErrorText } from './store-error-text.ts'

/** Answers a command that takes several steps, in its turn. For what is asked seldom. */
export function answerLater(session: Session, step: () => Promise<Buffer>): void {
  const place = session.reserve()
  step().then(
    (reply) => place.fill(reply),
    (problem: unknown) => place.fill(error(storeErrorText(asStoreError(problem)))),
  )
}
