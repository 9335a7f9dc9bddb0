import type { Job, JobRef, SetExit, SetFilter } from '@crossgear/core-scheduler'
import {
  compactJson,
  type Mutate,
  type MutateOperation,
  okReply,
  parseMutate,
} from '@crossgear/fwp-codec'
import { answerLater, noteAct } from '../answers.ts'
import type { FaktoryContext } from '../context.ts'
import { matchInPieces, MatchTurns } from '../match-in-pieces.ts'
import { findRef, jidOf } from '../jids.ts'
import type { Handler } from '../session.ts'
import { jobText } from '../translate.ts'

type Matches = (job: Job) => Promise<boolean>

/** Letters of a command that the audit has. */
const notedLetters = 1_000
const notUndone = 'only deletions by the API, the dashboard and the terminal can be undone'

/** Jobs looked up at once. */
const lookedUpAtOnce = 100

const exits: Readonly<Record<MutateOperation, SetExit>> = {
  clear: 'deleted',
  discard: 'deleted',
  kill: 'dead',
  requeue: 'queue',
}

/**
 * `MUTATE {"cmd", "target", "filter"}`: `+OK` when it is done. `cmd` is clear, kill, discard or
 * requeue; `target` is scheduled, retries or dead. A star in a jobtype or a jid of the filter stands for any text.
 */
export const mutate: Handler = (session, argument) => {
  const command = parseMutate(argument)
  answerLater(session, async () => {
    const jobs = await run(command, session.context)
    const target = argument.toString().slice(0, notedLetters)
    const noUndo = exits[command.operation] === 'deleted' ? { noUndo: notUndone } : {}
    await noteAct(session, { operation: 'MUTATE', target, jobs, ...noUndo })
    return okReply
  })
}

async function run(
  { operation, target, filter }: Mutate,
  context: FaktoryContext,
): Promise<number> {
  const { sets } = context.scheduler
  const exit = exits[operation]
  if (filter.kind === 'all') return await sets.move(target, {}, exit)
  if (filter.kind === 'match') return await sets.move(target, matching(filter, context), exit)
  const [patterns, jids] = halves(filter.jids, hasStar)
  const named = await sets.moveThese(target, await refsOf(jids, context), exit)
  if (patterns.length === 0) return named
  return named + (await sets.move(target, withJids(patterns, context), exit))
}

type Match = Extract<Mutate['filter'], { readonly kind: 'match' }>

function matching({ glob, jobtype }: Match, context: FaktoryContext): SetFilter {
  const { scheduler, payloadRuleOf } = context
  const { names } = scheduler.registry
  const isPattern = jobtype !== undefined && hasStar(jobtype)
  const tests: Matches[] = []
  const turns = new MatchTurns()
  if (isPattern) tests.push(matchInPieces(jobtype, ({ lane }) => names.parse(lane).fn, turns))
  if (glob !== undefined) {
    const textOf = (job: Job) => compactJson(jobText(job, scheduler.registry, payloadRuleOf))
    tests.push(matchInPieces(glob, textOf, turns))
  }
  return {
    ...(jobtype !== undefined && !isPattern && { fn: jobtype }),
    ...(tests.length > 0 && {
      matches: async (job) => {
        for (const test of tests) if (!(await test(job))) return false
        return true
      },
    }),
  }
}

function withJids(patterns: readonly string[], { scheduler }: FaktoryContext): SetFilter {
  const textOf = (job: Job): string => jidOf(job, scheduler.registry)
  const turns = new MatchTurns()
  const tests = patterns.map((pattern) => matchInPieces(pattern, textOf, turns))
  return {
    matches: async (job) => {
      for (const test of tests) if (await test(job)) return true
      return false
    },
  }
}

function hasStar(text: string): boolean {
  return text.includes('*')
}

/** Items that pass a test, and the others. */
function halves<Item>(items: readonly Item[], test: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))]
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
