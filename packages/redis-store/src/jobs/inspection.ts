import {
  searchedBytes,
  type InspectStore,
  type PlacedJob,
  type PlacePage,
  type PlaceRequest,
  type Standing,
} from '@crossgear/core-scheduler'
import { ContextPart } from '../connection/context-part.ts'
import { jobIdOf } from './job-fields.ts'

type PageReply = [seen: number, unsearched: number, more: number, ...(Buffer | number)[]]
type StandingReply =
  | [place: Buffer, score: Buffer, inputBytes: number, outputBytes: number]
  | readonly []

/** The steps of the store port by which an operator inspects jobs. */
export class RedisInspection extends ContextPart implements InspectStore {
  async page({ lane, place, from, count, text }: PlaceRequest): Promise<PlacePage> {
    const { run, keys } = this.context
    const needle = text ? Buffer.from(text) : ''
    const args = [lane, place, from, count, needle, searchedBytes]
    const reply = (await run('job-page', [keys.busy(lane)], args)) as PageReply
    const [seen, unsearched, more, ...words] = reply
    const jobs: PlacedJob[] = []
    for (let at = 0; at + 2 < words.length; at += 3) {
      const score = String(words[at + 2])
      const id = jobIdOf(words[at] as Buffer)
      if (id === undefined) continue
      jobs.push({ id, offset: Number(words[at + 1]), ...timeOf(place, score) })
    }
    return { jobs, seen, unsearched, more: more === 1 }
  }

  async standing(lane: string, id: number): Promise<Standing | undefined> {
    const { run, keys } = this.context
    const reply = (await run('standing', [keys.busy(lane)], [lane, id])) as StandingReply
    if (reply.length === 0) return undefined
    const [word, score, inputBytes, outputBytes] = reply
    const place = String(word) as Standing['place']
    return { place, inputBytes, outputBytes, ...timeOf(place, String(score)) }
  }
}

/** Deadlines from here on stand for a worker that keeps its job while it is connected. */
const connectedMs = 8e15

/** The time that a score says: of a scheduled job seconds, of others milliseconds. */
function timeOf(place: string, score: string): { readonly atMs?: number } {
  if (score === '') return {}
  const atMs = Math.round(Number(score) * (place === 'scheduled' ? 1000 : 1))
  return atMs < connectedMs ? { atMs } : {}
}
