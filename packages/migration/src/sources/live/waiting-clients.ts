import { randomInt } from 'node:crypto'
import type { GearmanConnection } from '@crossgear/peers'

/** The server keeps progress in 32 bits. */
const maxMark = 2 ** 31

/** A job that the server has given. */
export interface Assigned {
  readonly handle: Buffer
  readonly unique: Buffer
  readonly reducer: Buffer
  readonly data: Buffer
}

/** The server's answer about a job by its unique id. */
export interface Waiting {
  /** False if it knows no job with this unique id. */
  readonly isKnown: boolean
  /** Waiting clients; absent if unknown. */
  readonly clients?: number
}

/** Asks for each job whether clients wait for it. `worker`: the connection that has the jobs. */
export async function waitingFor(
  jobs: readonly Assigned[],
  worker: GearmanConnection,
  client: GearmanConnection,
): Promise<readonly Waiting[]> {
  const found: Waiting[] = []
  const hasUniqueId = ({ unique }: Assigned): boolean =>
    unique.length > 0 && unique.toString() !== '-'
  for (const job of jobs) if (hasUniqueId(job)) client.send('GET_STATUS_UNIQUE', job.unique)
  for (const job of jobs) {
    if (!hasUniqueId(job)) found.push({ isKnown: false })
    else {
      const { args } = await client.expect('STATUS_RES_UNIQUE')
      const isKnown = args[1]?.toString() === '1'
      found.push({ isKnown, ...(isKnown && { clients: clientsOf(args) }) })
    }
  }
  return confirmed(jobs, found, worker)
}

/**
 * Two functions may share a unique id: the right job shows the progress just set, which no client
 * sees.
 */
async function confirmed(
  jobs: readonly Assigned[],
  found: readonly Waiting[],
  worker: GearmanConnection,
): Promise<readonly Waiting[]> {
  const marks = found.map(({ clients }) => (clients === 0 ? String(randomInt(1, maxMark)) : ''))
  for (const [at, { handle, unique }] of jobs.entries()) {
    if (marks[at] === '') continue
    worker.send('WORK_STATUS', handle, '0', marks[at] ?? '')
    worker.send('GET_STATUS_UNIQUE', unique)
  }
  const results: Waiting[] = []
  for (const [at, waiting] of found.entries()) {
    if (marks[at] === '') results.push(waiting)
    else {
      const { args } = await worker.expect('STATUS_RES_UNIQUE')
      const isMeant = args[4]?.toString() === marks[at]
      results.push({ isKnown: true, ...(isMeant && { clients: clientsOf(args) }) })
    }
  }
  return results
}

/** The last argument of STATUS_RES_UNIQUE. */
function clientsOf(args: readonly Buffer[]): number {
  return Number(args.at(-1)?.toString())
}
