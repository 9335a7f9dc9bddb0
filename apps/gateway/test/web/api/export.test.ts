import { createServer, get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { Type } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import { columnsOf, csvHead, csvRow } from '../../../src/web/api/export/csv.ts'
import { Exports } from '../../../src/web/api/export/export-stream.ts'
import type { ApiAnswer } from '../../../src/web/api/api-error.ts'
import { CallLimiter } from '../../../src/web/api/limits/call-limiter.ts'
import { orNull, strict } from '../../../src/web/api/endpoint.ts'
import { apiOnRedis, bearer, readerPassword } from './support/api-gateway.ts'
import { portOfTest } from '../../support/port-of-test.ts'

test('a spreadsheet computes no cell of a file, and each cell is read as it was', () => {
  const columns = columnsOf(
    strict({
      name: Type.String(),
      error: orNull(strict({ type: Type.String() })),
      tries: Type.Integer(),
    }),
  )
  expect(csvHead(columns)).toBe('name,error.type,tries\r\n')
  for (const name of ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx']) {
    expect(csvRow(columns, { name, error: null, tries: -1 })).toMatch(/^"?'[=+\-@\t\r]/)
  }
  expect(csvRow(columns, { name: 'a "b", c', error: { type: 'x\ny' }, tries: -1 })).toBe(
    '"a ""b"", c","x\ny",-1\r\n',
  )
})

const roomy = {
  atOnce: 9,
  waiting: 9,
  waitMs: 9,
  minUnits: 0,
  unitsPerSecond: 9e9,
  burstUnits: 9e9,
}

/** A server that sends a list of functions, page by page, as a backend answers. */
async function served(
  call: (cursor: string | undefined) => Promise<ApiAnswer>,
  more: Partial<ConstructorParameters<typeof Exports>[0]> = {},
) {
  const backend = {
    call: (_name: string, { query }: { query: unknown }) =>
      call((query as { cursor?: string }).cursor),
  }
  const limiter = new CallLimiter(roomy, () => performance.now())
  const exports = new Exports({ backend, limiter, ...more })
  const server = createServer((_request, response) => {
    const refuse = (): void => void response.writeHead(429).end()
    void exports
      .begin('exportFunctions', { format: 'ndjson' })
      .then((begun) => ('send' in begun ? begun.send(response) : refuse()), refuse)
  })
  return portOfTest(server)
}

const pageOf = (names: readonly string[], cursor: string | null): ApiAnswer => {
  return { status: 200, body: { functions: names.map((name) => ({ function: name })), cursor } }
}

async function textOf(port: number): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${port}/`)).text()
}

test('a file that is cut at its bound says so in its last line', async () => {
  const port = await served((cursor) => Promise.resolve(pageOf(['a', 'b'], `${cursor ?? ''}x`)), {
    maxRows: 3,
  })
  expect(await textOf(port)).toBe(
    '{"function":"a"}\n{"function":"b"}\n{"function":"a"}\n{"note":"cut after 3 rows"}\n',
  )
})

test('a file whose list fails half way is broken off, and not taken for the whole', async () => {
  const port = await served((cursor) =>
    cursor === undefined
      ? Promise.resolve(pageOf(['a'], 'next'))
      : Promise.reject(new Error('the store is away')),
  )
  await expect(textOf(port)).rejects.toThrow()
})

test('a reader that takes nothing holds no more than some pages in memory, and is dropped', async () => {
  let pages = 0
  const long = 'x'.repeat(100_000)
  const limits: string[] = []
  const call = (): Promise<ApiAnswer> => {
    pages += 1
    return Promise.resolve(pageOf([long, long], 'next'))
  }
  const port = await served(call, { stalledMs: 300, limited: (limit) => limits.push(limit) })
  const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage]
  await expect.poll(() => limits).toEqual(['slow'])
  // Buffers of the sockets take some.
  expect(pages).toBeLessThan(200)
  await expect(response.toArray()).rejects.toThrow('aborted')
})

test('five files at a time are one too many', async () => {
  const held: (() => void)[] = []
  const port = await served(
    () => new Promise((resolve) => held.push(() => resolve(pageOf([], null)))),
  )
  const first = [1, 2, 3, 4].map(() => fetch(`http://127.0.0.1:${port}/`))
  await expect.poll(() => held.length).toBe(4)
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(429)
  for (const go of held) go()
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })

describeApi('lists as files', () => {
  test('have all rows that match, over several pages, for a reader alone', async () => {
    const api = await openApi()
    const client = await api.gateway.consumer()
    const jobs = Array.from({ length: 1_203 }, (_none, at) => {
      return { jid: `export-${at}`, jobtype: '=cmd', queue: at < 3 ? 'few' : 'q', args: [] }
    })
    await client.ask(`PUSHB ${JSON.stringify(jobs)}`)
    const read = async (path: string) => {
      const { status, headers, body } = await api.ask(`/api/v1/export/${path}`, {
        headers: bearer(readerPassword),
      })
      return { status, headers, lines: String(body).trimEnd().split(/\r?\n/) }
    }
    const all = await read('jobs')
    expect(all.headers['content-disposition']).toBe('attachment; filename="crossgear-jobs.ndjson"')
    const jids = all.lines.map((line) => (JSON.parse(line) as { jid: string }).jid)
    expect(new Set(jids).size).toBe(1_203)
    const few = await read('jobs?format=csv&queue=few')
    expect(few.lines).toHaveLength(4)
    expect(few.lines[0]).toMatch(/^id,handle,jid,function,.*,error\.message,/)
    expect(few.lines[1]).toContain(",export-0,'=cmd,few,waiting,")
    expect((await read('queues?format=csv')).lines).toHaveLength(3)
    expect((await read('functions')).lines).toHaveLength(2)
    expect(await api.refusal('/export/jobs?format=xls')).toEqual([400, 'invalid_request'])
    const guest = { headers: bearer('a wrong one') }
    expect((await api.ask('/api/v1/export/jobs', guest)).status).toBe(401)
  })
})
