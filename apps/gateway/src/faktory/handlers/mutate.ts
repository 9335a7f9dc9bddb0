import type { JobRef, SetExit, SetFilter } from '@crossgear/core-scheduler'
import {
  compactJson,
  type Mutate,
  type MutateOperation,
  okReply,
  parseMutate,
} from '@crossgear/fwp-codec'
import { answerLater } from '../answers.ts'
import type { FaktoryContext } from '../context.ts'
import { matchInPieces } from '../match-in-pieces.ts'
import { findRef } from '../jids.ts'
import type { Handler } from '../session.ts'
import { jobText } from '../translate.ts'

/** Jobs looked up at once. */
const lookedUpAtOnce = 100

const exits: Readonly<Record<MutateOperation, SetExit>> = {
  clear: 'nowhere',
  discard: 'nowhere',
  kill: 'dead',
  requeue: 'queue',
}

/**
 * `MUTATE {"cmd", "target", "filter"}`: `+OK` when it is done. `cmd` is clear, kill, discard or
 * requeue; `target` is scheduled, retries or dead.
 */
export const mutate: Handler = (session, argument) => {
  const command = parseMutate(argument)
  answerLater(session, async () => {
    await run(command, session.context)
    return okReply
  })
}

async function run({ operation, target, filter }: Mutate, context: FaktoryContext): Promise<void> {
  const { sets } = context.scheduler
  const exit = exits[operation]
  if (filter.kind !== 'jids') await sets.move(target, setFilter(filter, context), exit)
  else await sets.moveThese(target, await refsOf(filter.jids, context), exit)
}

function setFilter(
  filter: Exclude<Mutate['filter'], { readonly kind: 'jids' }>,
  { scheduler, payloadRuleOf }: FaktoryContext,
): SetFilter {
  if (filter.kind === 'all') return {}
  const { glob, jobtype } = filter
  return {
    ...(jobtype !== undefined && { fn: jobtype }),
    ...(glob !== undefined && {
      matches: matchInPieces(glob, (job) =>
        compactJson(jobText(job, scheduler.registry, payloadRuleOf)),
      ),
    }),
  }
}

async function refsOf(jids: readonly string[], { scheduler }: FaktoryContext): Promise<JobRef[]> {
  const refs: JobRef[] = []
  for (let at = 0; at < jids.length; at += lookedUpAtOnce) {
    const some = jids.slice(at, at + lookedUpAtOnce)
    const found = await Promise.all(some.map((jid) => findRef(jid, scheduler)))
    for (const ref of found) if (ref) refs.push({ lane: ref.lane, id: ref.id })
  }
  return refs
}
