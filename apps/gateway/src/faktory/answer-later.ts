import { error, NULL_BULK } from '@crossgear/fwp-codec'
import type { Session } from './session.ts'
import { asStoreError, storeErrorText } from './store-error-text.ts'

/** Answers a command that takes several steps, in its turn. For what is asked seldom. */
export function answerLater(session: Session, step: () => Promise<Buffer>): void {
  const place = session.reserve()
  const ask = async (): Promise<Buffer> => (session.hasLeft ? NULL_BULK : step())
  session.asking.run(ask).then(
    (reply) => place.fill(reply),
    (problem: unknown) => place.fill(error(storeErrorText(asStoreError(problem)))),
  )
}
