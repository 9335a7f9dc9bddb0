import type { Scheduler } from '@crossgear/core-scheduler'
import {
  bulk,
  isQueueName,
  okReply,
  parseQueueCommand,
  type QueueCommand,
} from '@crossgear/fwp-codec'
import { answerLater, noteAct } from '../answers.ts'
import type { Handler } from '../session.ts'

/**
 * `QUEUE PAUSE|RESUME|REMOVE queue ...|*`: `+OK`; REMOVE also ends a pause. `QUEUE LATENCY queue
 * ...`: a bulk string, the JSON map of queue to the age of its oldest job in seconds.
 */
export const queue: Handler = (session, argument) => {
  const command = parseQueueCommand(argument)
  const { subcommand } = command
  answerLater(session, async () => {
    const answer = await answers[subcommand](command, session.context.scheduler)
    if (subcommand !== 'LATENCY') {
      const target = (command.names === '*' ? '*' : command.names.join(' ')).slice(0, notedLetters)
      await noteAct(session, { operation: `QUEUE ${subcommand}`, target })
    }
    return answer
  })
}

/** Letters of a command that the audit has. */
const notedLetters = 1_000

type Answer = (command: QueueCommand, scheduler: Scheduler) => Promise<Buffer>

const answers: Readonly<Record<QueueCommand['subcommand'], Answer>> = {
  async PAUSE({ names }, { queues, registry }) {
    const wanted = names === '*' ? [...registry.queues()] : known(names, registry.queues())
    await queues.pause(wanted, 'a Faktory client')
    return okReply
  },

  async RESUME({ names }, { queues }) {
    await queues.resume(names === '*' ? [...queues.paused] : names.filter(isQueueName))
    return okReply
  },

  async REMOVE(command, scheduler) {
    const { queues, registry } = scheduler
    const { names } = command
    for (const name of names === '*' ? [...registry.queues()] : names) await queues.remove(name)
    // Jobs pushed from now on belong to a new queue.
    return answers.RESUME(command, scheduler)
  },

  async LATENCY({ names }, scheduler) {
    const ages = new Map<string, number>()
    for (const name of names) {
      const since = await scheduler.queues.oldest(name)
      const ageMs = since === undefined ? 0 : Math.max(0, scheduler.storeNowMs() - since)
      ages.set(name, ageMs / 1000)
    }
    return bulk(JSON.stringify(Object.fromEntries(ages)))
  },
}

/** Only known queues: other names would fill the store for nothing. */
function known(names: readonly string[], queues: Iterable<string>): readonly string[] {
  const all = new Set(queues)
  return names.filter((name) => all.has(name))
}
