import { CronEntryError, readCronEntry } from '../../../config/cron-entry.ts'
import { ApiError } from '../api-error.ts'
import type { Handlers } from '../api.ts'
import type { Scope } from '../scope.ts'
import { handIn, submittedView } from './new-jobs.ts'
import type { HandlerParts } from '../handler-parts.ts'

/** Refuses an entry with the words of its fault. */
async function checked<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof CronEntryError)) throw error
    throw new ApiError('invalid_request', error.message, { cause: error })
  }
}

function ofFile(name: string): ApiError {
  const words = `${JSON.stringify(name)} is an entry of the file: change it there`
  return new ApiError('not_accepted', words)
}

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
      const { lane, job } = made
      const submitted = await handIn(scheduler, lane, job)
      const { id } = submitted
      const atMs = Math.round(scheduler.storeNowMs())
      await cron.noteRun(body.entry, { lane, id, atMs, isByHand: true })
      return submittedView(names, submitted)
    },

    async addCron({ body, scope }) {
      const name = await checked(async () => {
        const entry = readCronEntry(body)
        scope?.demandTarget(cron.laneOf(entry))
        await demand([entry.name], scope)
        return (await cron.add(body)).name
      })
      return { entry: name }
    },

    async removeCron({ body: { entries }, scope }) {
      await demand(entries, scope)
      const sources = new Map((await cron.list()).map(({ entry, source }) => [entry.name, source]))
      for (const name of entries) {
        const source = sources.get(name)
        if (source === undefined) throw unknown(name)
        if (source === 'file') throw ofFile(name)
      }
      for (const name of entries) await cron.remove(name)
      return { entries: [...entries] }
    },

    pauseCron: (input) => setPaused(input, true),

    resumeCron: (input) => setPaused(input, false),
  } satisfies Partial<Handlers>
}
