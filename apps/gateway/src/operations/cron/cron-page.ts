import { formatRfc3339 } from '@crossgear/fwp-codec'
import { type Answer, BodyError, json, type PageRequest, readJson } from '../page.ts'
import { CronEntryError } from '../../config/cron-entry.ts'
import type { Cron, CronView } from './cron.ts'

/**
 * The page `/cron`: GET lists the entries, POST adds its JSON body as one, DELETE removes the added
 * one `?name=`.
 */
export async function answerCron(cron: Cron, request: PageRequest): Promise<Answer> {
  const { method = 'GET' } = request
  if (method === 'GET' || method === 'HEAD') {
    return json(200, { cron: (await cron.list()).map(shown) })
  }
  const change = Object.hasOwn(changes, method) ? changes[method] : undefined
  if (!change) return json(405, { error: 'use GET, HEAD, POST or DELETE' })
  try {
    return await change(cron, request)
  } catch (error) {
    if (error instanceof CronEntryError || error instanceof BodyError) {
      return json(400, { error: error.message })
    }
    throw error
  }
}

const changes: Readonly<Record<string, (cron: Cron, request: PageRequest) => Promise<Answer>>> = {
  async POST(cron, request) {
    const { name } = await cron.add(await readJson(request))
    return json(201, { name })
  },

  async DELETE(cron, request) {
    const name = new URL(request.url ?? '', 'http://gateway').searchParams.get('name') ?? ''
    return (await cron.remove(name))
      ? json(200, { name })
      : json(404, { error: `no entry ${JSON.stringify(name)} was added` })
  },
}

function shown({ entry, source, isPaused, lastMs, nextMs }: CronView): object {
  const { name, schedule, timezone, job } = entry
  return {
    name,
    source,
    is_paused: isPaused,
    schedule,
    timezone,
    job,
    last_run: lastMs === undefined ? null : formatRfc3339(lastMs),
    next_run: nextMs === undefined ? null : formatRfc3339(nextMs),
  }
}
