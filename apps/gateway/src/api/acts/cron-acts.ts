import type { Scheduler } from '@crossgear/core-scheduler'
import type { Cron } from '../../ops/cron/cron.ts'
import { ApiError } from '../api-error.ts'
import type { Handlers } from '../api.ts'
import type { JobNames } from '../reads/job-names.ts'
import { handIn, submittedView } from './new-jobs.ts'

interface Parts {
  readonly scheduler: Scheduler
  readonly names: JobNames
  readonly cron: Cron
}

/** Acts on cron jobs. */
export function cronActs({
  scheduler,
  names,
  cron,
}: Parts): Pick<Handlers, 'runCron' | 'pauseCron' | 'resumeCron'> {
  const unknown = (name: string): ApiError =>
    new ApiError('not_found', `there is no cron entry ${JSON.stringify(name)}`)
  const setPaused = async (entries: readonly string[], paused: boolean) => {
    const stranger = await cron.setPaused(entries, paused)
    if (stranger !== undefined) throw unknown(stranger)
    return { entries: [...entries] }
  }

  return {
    async runCron({ body }) {
      const made = await cron.jobNow(body.entry)
      if (!made) throw unknown(body.entry)
      return submittedView(names, await handIn(scheduler, made.lane, made.job))
    },

    pauseCron: ({ body }) => setPaused(body.entries, true),

    resumeCron: ({ body }) => setPaused(body.entries, false),
  }
}
