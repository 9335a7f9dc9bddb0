import { bulk, error, OK, parseBeat } from '@crossgear/fwp-codec'
import { workerStates } from '../workers.ts'
import type { Handler } from './handler.ts'

/**
 * `BEAT {"wid", "rss_kb", "current_state"}`: `+OK` while the worker is to run, else a bulk string,
 * `{"state":"quiet"}` or `{"state":"terminate"}`. The client must have said HELLO with a wid.
 */
export const beat: Handler = (session, argument) => {
  const { wid, rssKb, currentState } = parseBeat(argument)
  if (session.worker.wid === undefined) {
    session.send(error('BEAT is for workers: HELLO named no wid'))
    return
  }
  const { workers, neighbours, scheduler } = session.context
  const state = workerStates.find((known) => known === currentState)
  const news = { wid, ...(rssKb !== undefined && { rssKb }), ...(state && { state }) }
  const worker = workers.beat(news)
  if (!worker) {
    session.send(error(`unknown worker ${wid}`))
    return
  }
  neighbours.tell({ kind: 'beat', ...news })
  void scheduler.queues.notify(wid, 'alive')
  scheduler.holders.alive(worker.holder)
  session.send(worker.state === 'running' ? OK : bulk(JSON.stringify({ state: worker.state })))
}
