import type { BatchCallback, BatchState, CallbackState, NewBatch } from '@crossgear/core-scheduler'
import {
  type Batch,
  bulk,
  error,
  formatRfc3339,
  type FwpJob,
  okReply,
  parseBatch,
  withCustom,
} from '@crossgear/fwp-codec'
import { answerLater, noSuchBatch } from '../answers.ts'
import type { FaktoryContext } from '../context.ts'
import { laneFor } from '../lanes.ts'
import type { Handler } from '../session.ts'
import { plainJobOf } from '../translate.ts'

/**
 * `BATCH NEW {"description", "parent_bid", "success", "complete"}`, `BATCH OPEN bid`: a bulk string, the bid. `BATCH
 * COMMIT bid`: `+OK`. `BATCH STATUS bid`: a bulk string, JSON figures. `-ERR No such batch <bid>` if it is unknown.
 */
export const batch: Handler = (session, argument) => {
  const { context } = session
  const command = parseBatch(argument, context.newId)
  if (command.subcommand === 'NEW') {
    const made = newBatchOf(command, context)
    answerLater(session, () => create(made, context, session.address))
  } else {
    const { subcommand, bid } = command
    answerLater(
      session,
      async () => (await answers[subcommand](bid, context)) ?? error(noSuchBatch(bid)),
    )
  }
}

type Answer = (bid: string, context: FaktoryContext) => Promise<Buffer | undefined>

const answers: Readonly<Record<'OPEN' | 'COMMIT' | 'STATUS', Answer>> = {
  async OPEN(bid, { scheduler }) {
    return (await scheduler.batches.open(bid)) ? bulk(bid) : undefined
  },

  async COMMIT(bid, { scheduler }) {
    return (await scheduler.batches.commit(bid)) ? okReply : undefined
  },

  async STATUS(bid, { scheduler }) {
    const state = await scheduler.batches.state(bid)
    return state && bulk(JSON.stringify(statusOf(state)))
  },
}

async function create(
  made: NewBatch,
  { scheduler, lanes }: FaktoryContext,
  address: string,
): Promise<Buffer> {
  for (const callback of [made.complete, made.success]) {
    if (callback) await lanes.open(callback.lane, address)
  }
  const isMade = await scheduler.batches.create(made)
  return isMade ? bulk(made.bid) : error(noSuchBatch(made.parent ?? ''))
}

function newBatchOf(
  { description, parentBid, complete, success }: Extract<Batch, { readonly subcommand: 'NEW' }>,
  context: FaktoryContext,
): NewBatch {
  const bid = context.newId()
  return {
    bid,
    description,
    ...(parentBid !== undefined && { parent: parentBid }),
    ...(complete && { complete: callbackOf(withBatch(complete, bid, 'complete'), context) }),
    ...(success && { success: callbackOf(withBatch(success, bid, 'success'), context) }),
  }
}

/** Workers of a callback read in `custom` which batch it belongs to, and which of its callbacks it is. */
function withBatch(pushed: FwpJob, bid: string, callback: 'complete' | 'success'): FwpJob {
  return withCustom(pushed, { _bid: bid, _cb: callback })
}

/** A callback is pushed once, at its time: its own due time, lock and batch are ignored. */
function callbackOf(pushed: FwpJob, { scheduler, payloadRuleOf }: FaktoryContext): BatchCallback {
  const lane = laneFor(pushed, scheduler.registry.names)
  const job = plainJobOf(pushed, scheduler.storeNowMs(), payloadRuleOf(pushed.jobtype))
  return { lane, job: { ...job, jid: pushed.jid } }
}

/** Faktory's names: a failed callback stays pushed. */
const states: Readonly<Record<CallbackState, string>> = {
  none: '',
  pushed: '1',
  done: '2',
  failed: '1',
}

function statusOf(state: BatchState): object {
  const { bid, parent, description, createdAtMs, total, pending, failed } = state
  return {
    bid,
    ...(parent !== undefined && { parent_bid: parent }),
    description,
    created_at: formatRfc3339(createdAtMs),
    total,
    pending,
    failed,
    complete_st: states[state.complete],
    success_st: states[state.success],
  }
}
