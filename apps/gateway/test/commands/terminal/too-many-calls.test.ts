import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { crossgear } from './support/terminal.ts'
import { portOfTest } from '../../support/port-of-test.ts'

interface Scripted {
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

/** A web port that gives these answers, one after the other, and the addresses that were asked for. */
async function answering(answers: readonly Scripted[]) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { status, body, headers = {} } = answers[asked.length] ?? answers.at(-1)!
    asked.push(request.url ?? '')
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  })
  return { asked, env: { CROSSGEAR_URL: `http://127.0.0.1:${await portOfTest(server)}` } }
}

function tooMany(seconds: number, code = 'too_many_requests'): Scripted {
  const error = { code, message: 'too many calls at once' }
  return { status: 429, body: { error }, headers: { 'Retry-After': String(seconds) } }
}

function page(id: string, cursor: string | null): Scripted {
  const job = { id, state: 'waiting', function: 'f', queue: 'q', door: 'gearman' }
  const rest = { enqueued_at: null, due_at: null, error: null, progress: null }
  return {
    status: 200,
    body: { jobs: [{ ...job, ...rest }], looked_at: 1, unsearched: 0, cursor },
  }
}

test('a list waits where it is refused as one too many, and goes on from its cursor', async () => {
  const { asked, env } = await answering([
    tooMany(1),
    page('first', 'c1'),
    tooMany(0),
    page('second', null),
  ])
  const { code, stdout } = await crossgear(['jobs', 'list'], { env })
  expect(code).toBe(0)
  expect(stdout).toMatch(/first[^]*second/)
  expect(asked.map((url) => /cursor=(\w+)/.exec(url)?.[1])).toEqual([
    undefined,
    undefined,
    'c1',
    'c1',
  ])
})

test('a command does not wait longer than a minute, nor for an address with wrong passwords', async () => {
  const long = await answering([tooMany(61)])
  const late = await crossgear(['nodes'], { env: long.env })
  expect([late.code, late.stderr]).toEqual([
    5,
    'The gateway refuses: too many calls at once (too_many_requests).\n',
  ])
  const wrong = await answering([tooMany(1, 'too_many_tries')])
  expect((await crossgear(['nodes'], { env: wrong.env })).code).toBe(3)
  expect([long.asked.length, wrong.asked.length]).toEqual([1, 1])
})
