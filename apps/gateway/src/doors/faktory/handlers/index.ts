import { bulk, error, okReply, parseBeat } from '@crossgear/fwp-codec'
import { answerLater, noteAct } from '../answers.ts'
import { Fetch } from '../fetch.ts'
import type { Handler, Handlers } from '../session.ts'
import { workerStates } from '../workers.ts'
import { batch } from './batch.ts'
import { mutate } from './mutate.ts'
import { ack, fail } from './outcomes.ts'
import { push, pushb } from './push.ts'
import { queue } from './queue.ts'
import { track } from './track.ts'

/**
 * `BEAT {"wid", "rss_kb", "current_state"}`: `+OK` while the worker is to run, else a bulk string,
 * `{"state":"quiet"}` or `{"state":"terminate"}`. Any connection may send it for a worker of this node.
 */
const beat: Handler = (session, argument) => {
  const { wid, rssKb, currentState } = parseBeat(argument)
  const { workers, scheduler } = session.context
  const state = workerStates.find((known) => known === currentState)
  const worker = workers.beat({
    wid,
    ...(rssKb !== undefined && { rssKb }),
    ...(state && { state }),
  })
  if (!worker) {
    session.send(error(`unknown worker ${wid}`))
    return
  }
  void scheduler.queues.notify(wid, 'alive')
  if (state && state !== 'running') void scheduler.queues.notify(wid, state)
  scheduler.holders.alive(worker.holder)
  session.send(worker.state === 'running' ? okReply : bulk(JSON.stringify({ state: worker.state })))
}

/** `END`: `+OK` after all earlier replies, then the connection ends. */
const end: Handler = (session) => {
  session.send(okReply)
  session.end()
}

/** Memory of a queue that a FETCH waits for, besides its name, of which there are two copies. */
const waitingBytes = 200

/**
 * `FETCH [queue ...]`: a bulk string, the job; the null bulk string if none comes in time. Queues
 * are taken strictly in this order; the default is `default`.
 */
const fetch: Handler = (session, argument) => {
  const { queues, subscription } = session.context.subscriptions.of(argument, session.functions)
  const bytes = 2 * argument.length + queues.length * waitingBytes
  if (!session.hasRoomFor(bytes)) {
    session.context.rejected('buffer')
    session.send(error('the gateway holds too much already: name fewer queues, or try again later'))
    return
  }
  session.keepsNames(session.worker.count(queues, session.functions))
  new Fetch(session, subscription, bytes).start()
}

/** `FLUSH`: `+OK` when all jobs of the broker are gone. Only from permitted addresses. */
const flush: Handler = (session) => {
  const { scheduler, mayFlush } = session.context
  if (!mayFlush(session.address)) {
    session.send(error('FLUSH is not allowed from this address'))
    return
  }
  answerLater(session, async () => {
    const jobs = await scheduler.queues.flush()
    await noteAct(session, { operation: 'FLUSH', target: '', jobs })
    return okReply
  })
}

/** A second `HELLO` is an error. */
const hello: Handler = (session) => {
  session.send(error('unknown command HELLO'))
}

/** `INFO`: a bulk string, the JSON of the server's figures. */
const info: Handler = (session) => {
  answerLater(session, async () => bulk(await session.context.info.json()))
}

/** Every verb of the protocol. */
export const handlers: Handlers = {
  HELLO: hello,
  END: end,
  PUSH: push,
  PUSHB: pushb,
  FETCH: fetch,
  ACK: ack,
  FAIL: fail,
  BEAT: beat,
  INFO: info,
  FLUSH: flush,
  MUTATE: mutate,
  QUEUE: queue,
  TRACK: track,
  BATCH: batch,
}
