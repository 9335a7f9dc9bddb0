import type { Commands } from '../commands.ts'
import { GearMonkeyError, isReplyError, messageOf } from '../errors.ts'
import { within } from '../within.ts'

/**
 * How much longer than the server the client waits for the end of a blocking call, milliseconds.
 */
const graceMs = 5_000

export interface AwaitedJob {
  readonly fn: string
  readonly id: number
  /** 0 waits for ever. */
  readonly timeoutSeconds: number
  /** Looks the job up on another connection, in case this one failed while the job finished. */
  readonly isFinished: () => Promise<boolean>
}

/**
 * Waits for the push on a job's lock list, by BRPOP on a connection of its own.
 * @throws GearMonkeyError BLOCKING_TIMEOUT, WAIT_LOST
 */
export async function awaitLock(commands: Commands, job: AwaitedJob): Promise<void> {
  const { fn, id, timeoutSeconds } = job
  const startedAt = performance.now()
  let leftSeconds = timeoutSeconds
  for (;;) {
    try {
      const reply = await answerOf(commands.awaitLock(fn, id, leftSeconds), leftSeconds)
      if (reply === null) throw timedOut(job)
      return
    } catch (error) {
      if (error instanceof GearMonkeyError) throw error
      if (!mayTryAgain(commands, error)) throw waitLost(job, error)
    }
    if (await finishedMeanwhile(job)) return
    if (timeoutSeconds === 0) continue
    leftSeconds = Math.ceil(timeoutSeconds - (performance.now() - startedAt) / 1000)
    if (leftSeconds <= 0) throw timedOut(job)
  }
}

/** The answer to a BRPOP; null if not even its own timeout came: a frozen server. */
async function answerOf(reply: Promise<unknown>, timeoutSeconds: number): Promise<unknown> {
  if (timeoutSeconds === 0) return reply
  return within(reply, timeoutSeconds * 1000 + graceMs, null)
}

/** A lost connection reconnects by itself; a failing master answers a BRPOP with UNBLOCKED. */
function mayTryAgain(commands: Commands, error: unknown): boolean {
  if (isReplyError(error)) return messageOf(error).startsWith('UNBLOCKED')
  return commands.connection.status !== 'end'
}

async function finishedMeanwhile(job: AwaitedJob): Promise<boolean> {
  try {
    return await job.isFinished()
  } catch (error) {
    throw waitLost(job, error)
  }
}

function timedOut({ fn, id, timeoutSeconds }: AwaitedJob): GearMonkeyError {
  const detail = `${fn} ${id} after ${timeoutSeconds} s`
  return new GearMonkeyError('BLOCKING_TIMEOUT', detail, { ids: [id] })
}

function waitLost({ fn, id }: AwaitedJob, cause: unknown): GearMonkeyError {
  return new GearMonkeyError('WAIT_LOST', `${fn} ${id}: ${messageOf(cause)}`, { cause, ids: [id] })
}
