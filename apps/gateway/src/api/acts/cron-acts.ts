import { ApiError } from '../api-error.ts'
import type { Handlers } from '../api.ts'
import type { Scope } from '../scope.ts'
import { handIn, submittedView } from './new-jobs.ts'
import type { HandlerParts } from '../handler-parts.ts'

/** Acts on cron jobs. */
export function cronActs({ scheduler, names, cron }: HandlerParts) {
  const unknown = (name: string): ApiError =>
    new ApiError('not_found', `there is no cron entry ${JSON.stringify(name)}`)
  const demand = async (entries: readonly string[], scope: Scope | undefined): Promise<void> => {
    if (!scope) return
    const views = await cron.list()
    for (const { entry } of views) {
      if (entries.includes(entry.name)) scope.demandTarget(cron.laneOf(entry))
    }
  }
  const setPaused = async (
    { body: { entries }, scope }: { body: { entries: string[] }; scope?: Scope },
    paused: boolean,
  ) => {
    await demand(entries, scope)
    const stranger = await cron.setPaused(entries, paused)
    if (stranger !== undefined) throw unknown(stranger)
    return { entries: [...entries] }
  }

  return {
    async runCron({ body, scope }) {
      await demand([body.entry], scope)
      const made = await cron.jobNow(body.entry)
      if (!made) throw unknown(body.entry)
      return submittedView(names, await handIn(scheduler, made.lane, made.job))
    },

    pauseCron: (input) => setPaused(input, true),

    resumeCron: (input) => setPaused(input, false),
  } satisfies Partial<Handlers>
}
