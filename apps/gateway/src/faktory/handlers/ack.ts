import type { Assignment } from '@crossgear/core-scheduler'
import { OK, parseAck } from '@crossgear/fwp-codec'
import { JidOutcome } from '../jid-outcome.ts'
import type { Session } from '../session.ts'
import { outputOfResult } from '../translate.ts'
import type { Handler } from './handler.ts'

/** `ACK {"jid", "result"}`: `+OK`, for a job that nobody holds as well. */
export const ack: Handler = (session, argument) => {
  const { jid, result } = parseAck(argument)
  new Acknowledgement(session, jid, outputOfResult(result)).start()
}

class Acknowledgement extends JidOutcome {
  readonly #output: Buffer

  constructor(session: Session, jid: string, output: Buffer) {
    super(session, jid)
    this.#output = output
  }

  protected override unknown(): Buffer {
    return OK
  }

  protected override tell(assignment: Assignment): void {
    this.session.context.scheduler.complete(assignment, this.#output, this)
  }
}
