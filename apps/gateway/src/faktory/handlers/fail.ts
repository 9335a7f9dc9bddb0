import type { Assignment } from '@crossgear/core-scheduler'
import { error, parseFail, scanObject, type Fail } from '@crossgear/fwp-codec'
import { JidOutcome } from '../jid-outcome.ts'
import type { Session } from '../session.ts'
import type { Handler } from './handler.ts'

/** `FAIL {"jid", "errtype", "message", "backtrace"}`: `+OK`, or `-ERR Job not found <jid>`. */
export const fail: Handler = (session, argument) => {
  new Failure(session, parseFail(argument)).start()
}

class Failure extends JidOutcome {
  readonly #fail: Fail

  constructor(session: Session, report: Fail) {
    super(session, report.jid)
    this.#fail = report
  }

  protected override unknown(jid: string): Buffer {
    return error(`Job not found ${jid}`)
  }

  protected override tell(assignment: Assignment): void {
    const { message, errtype, backtrace } = this.#fail
    const lines = linesWanted(assignment.job.envelope)
    const report = { message, errtype, backtrace: backtrace.slice(0, lines) }
    this.session.context.scheduler.fail(assignment, report, this)
  }
}

/** The lines of a backtrace that the job's producer asked to be kept; undefined: what there is. */
function linesWanted(envelope: string | undefined): number | undefined {
  if (envelope === undefined) return undefined
  const lines = Number(scanObject(envelope).get('backtrace'))
  return lines > 0 ? lines : undefined
}
