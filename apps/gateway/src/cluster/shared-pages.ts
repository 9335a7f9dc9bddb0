import { type Answer, json, maxBodyBytes, type Page, type PageRequest } from '../ops/page.ts'
import type { GatewayProcess } from './gateway-process.ts'
import type { PlainRequest } from './messages.ts'

const reads: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Pages of the web port, answered by the parent with the help of the processes. */
export function sharedPages(
  processes: () => readonly GatewayProcess[],
): Readonly<Record<string, Page>> {
  const askOne = async (path: string, request: PlainRequest): Promise<Answer> => {
    const process = processes().find(({ serves }) => serves)
    if (!process) return json(503, { error: 'no process runs at the moment' })
    return await process.ask(undefined, 'page', path, request)
  }
  return {
    '/cron': async (request) => askOne('/cron', await plain(request)),
    '/busy': async (request) => {
      const sent = await plain(request)
      if (!reads.has(sent.method ?? 'GET')) return await askOne('/busy', sent)
      const serving = processes().filter(({ serves }) => serves)
      const answers = await Promise.all(
        serving.map((process) => process.ask(undefined, 'page', '/busy', sent)),
      )
      return json(200, { workers: joined(answers) })
    },
  }
}

/** The request body as a process's page sees it. */
export async function* bodyOf({ body }: PlainRequest): AsyncGenerator<Uint8Array> {
  yield Promise.resolve(body)
}

async function plain(request: PageRequest): Promise<PlainRequest> {
  const { method, url, headers, socket } = request
  // Lost once the connection ends.
  const { remoteAddress } = socket
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    bytes += chunk.length
    // Enough for the page to see that it is too long.
    if (bytes > maxBodyBytes) break
  }
  return {
    ...{ method, url, remoteAddress },
    contentType: headers['content-type'],
    body: Buffer.concat(chunks),
  }
}

/** A worker as `/busy` shows it; processes add to each other. */
interface ShownWorker {
  readonly wid?: string
  readonly jobs: number
  readonly connections: number
  readonly seconds_since_beat: number
}

/** Merges workers, whose connections may be at any process. */
function joined(answers: readonly Answer[]): readonly ShownWorker[] {
  const workers = new Map<string | ShownWorker, ShownWorker>()
  for (const { body } of answers) {
    for (const worker of (JSON.parse(body) as { workers: ShownWorker[] }).workers) {
      const key = worker.wid ?? worker
      const other = workers.get(key)
      workers.set(key, other ? added(other, worker) : worker)
    }
  }
  return [...workers.values()]
}

function added(one: ShownWorker, other: ShownWorker): ShownWorker {
  return {
    ...one,
    jobs: one.jobs + other.jobs,
    connections: one.connections + other.connections,
    seconds_since_beat: Math.min(one.seconds_since_beat, other.seconds_since_beat),
  }
}
