import type { Request } from '../script.ts'

/** One request of an HTTP client, and what a worker of `mail` does with its job. */
export interface HttpCase {
  readonly name: string
  /** Text commands before it. */
  readonly before?: readonly string[]
  /** Written on one connection each, in order; one byte per character. */
  readonly requests: readonly string[]
  /** Answers that count: gearmand may say more before it closes. 1. */
  readonly answers?: number
  /** The client leaves when the server has the job. */
  readonly leaves?: true
  /** The worker's words about the job; `H#1` is its handle. Absent: no worker is there. */
  readonly work?: readonly Request[]
}

type Headers = Readonly<Record<string, string | number>>

const everyByte = String.fromCharCode(...Array.from({ length: 256 }, (_, at) => at))
const done: readonly Request[] = [['WORK_COMPLETE', 'H#1', 'done']]
const background: Headers = { 'X-Gearman-Background': 'true' }

function http(method: string, path: string, headers: Headers = {}, body = ''): string {
  const all = { Host: 'localhost', Connection: 'close', ...headers }
  const length = body === '' ? {} : { 'Content-Length': body.length }
  const lines = Object.entries({ ...all, ...length }).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

const outcomes: readonly (readonly [string, readonly Request[]])[] = [
  ['WORK_COMPLETE', done],
  ['WORK_COMPLETE of nothing', [['WORK_COMPLETE', 'H#1', '']]],
  ['WORK_COMPLETE of every byte', [['WORK_COMPLETE', 'H#1', everyByte]]],
  ['WORK_COMPLETE of 1 MiB', [['WORK_COMPLETE', 'H#1', 'x'.repeat(1024 * 1024)]]],
  ['WORK_FAIL', [['WORK_FAIL', 'H#1']]],
  ['WORK_EXCEPTION', [['WORK_EXCEPTION', 'H#1', 'why']]],
  ['WORK_DATA', [['WORK_DATA', 'H#1', 'more'], ...done]],
  ['WORK_WARNING', [['WORK_WARNING', 'H#1', 'careful'], ...done]],
  ['WORK_STATUS', [['WORK_STATUS', 'H#1', '1', '2'], ...done]],
]

const unusual: readonly (readonly [string, string])[] = [
  ['GET /', http('GET', '/')],
  ['DELETE', http('DELETE', '/mail', background)],
  ['no HTTP', 'nonsense\r\n\r\n'],
  ['a header with an invalid name', http('POST', '/mail', { ...background, 'X Y': 1 }, 'x')],
  ['a path with slashes', http('POST', '/a/b', background, 'x')],
  ['a path with two slashes before it', http('POST', '//a', background, 'x')],
  ['a path with a query', http('POST', '/mail?x=1', background, 'x')],
  ['a path with percent signs', http('POST', '/a%20b', background, 'x')],
  ['a function of 511 bytes', http('POST', `/${'f'.repeat(511)}`, background, 'x')],
  ['a background job without a body', http('POST', '/mail', background)],
  ['Content-Length 0', http('POST', '/mail', { ...background, 'Content-Length': 0 })],
  ['X-Gearman-Background: false', http('POST', '/mail', { 'X-Gearman-Background': 'false' }, 'x')],
  ['small letters', http('POST', '/mail', { 'x-gearman-background': 'true' }, 'x')],
  ['capital letters', http('POST', '/mail', { 'X-GEARMAN-BACKGROUND': 'TRUE' }, 'x')],
  ['X-Gearman-Priority: high', http('POST', '/mail', withPriority('high'), 'x')],
  ['X-Gearman-Priority: low', http('POST', '/mail', withPriority('low'), 'x')],
  ['X-Gearman-Priority: urgent', http('POST', '/mail', withPriority('urgent'), 'x')],
  ['X-Gearman-Unique of 63 bytes', http('POST', '/mail', withUnique(63), 'x')],
  ['X-Gearman-Unique of 65 bytes', http('POST', '/mail', withUnique(65), 'x')],
]

/** As gearmand's manual writes them: no Host, and LF or CR LF at the end of a line. */
const plainRequests: readonly (readonly [string, string, (readonly Request[])?])[] = [
  ['lines that end in LF', plainRequest('POST', '\n', '1.1'), done],
  ['lines that end in LF, a background job', plainRequest('POST', '\n', '1.1', background)],
  ['HTTP/1.0 with lines that end in LF', plainRequest('PUT', '\n', '1.0'), done],
  ['no Host', plainRequest('POST', '\r\n', '1.1', { Connection: 'close' }), done],
  [
    'lines that end in CR LF and in LF',
    'POST /mail HTTP/1.1\r\nContent-Length: 4\nX-Gearman-Background: true\r\n\ndata',
  ],
  ['GET with a body', plainRequest('GET', '\n', '1.1'), done],
  ['HEAD with a body, a background job', plainRequest('HEAD', '\n', '1.1', background)],
]

function plainRequest(method: string, end: string, version: string, headers: Headers = {}): string {
  const lines = Object.entries({ 'Content-Length': 4, ...headers })
  return [
    `${method} /mail HTTP/${version}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    '',
    'data',
  ].join(end)
}

function withPriority(priority: string): Headers {
  return { ...background, 'X-Gearman-Priority': priority }
}

function withUnique(length: number): Headers {
  return { ...background, 'X-Gearman-Unique': 'u'.repeat(length) }
}

/** Background jobs of `mail`, one after the other. */
function jobs(headers: Headers, ...bodies: readonly string[]): readonly string[] {
  return bodies.map((body) => http('POST', '/mail', { ...background, ...headers }, body))
}

export const httpCases: readonly HttpCase[] = [
  ...outcomes.map(([name, work]) => ({
    name: `POST and ${name}`,
    requests: [http('POST', '/mail', {}, 'data')],
    work,
  })),
  ...['GET', 'HEAD', 'PUT'].map((method) => ({
    name: `${method} and WORK_COMPLETE`,
    requests: [http(method, '/mail', {}, method === 'PUT' ? 'data' : '')],
    work: done,
  })),
  {
    name: 'HTTP/1.0',
    requests: ['POST /mail HTTP/1.0\r\nContent-Length: 4\r\n\r\ndata'],
    work: done,
  },
  ...plainRequests.map(([name, request, work]) => ({
    name,
    requests: [request],
    ...(work && { work }),
  })),
  {
    name: 'a body of every byte, with a unique id',
    requests: [http('POST', '/mail', { 'X-Gearman-Unique': 'u' }, everyByte)],
    work: done,
  },
  ...unusual.map(([name, request]) => ({
    name,
    requests: [request],
    ...(name.endsWith('false') && { leaves: true as const }),
  })),
  {
    name: 'two requests on one connection',
    answers: 2,
    requests: [[...jobs({ Connection: 'keep-alive' }, 'one'), ...jobs({}, 'other')].join('')],
  },
  { name: 'a job of the payload of another', requests: jobs({}, 'same', 'other', 'same') },
  {
    name: 'a job of the unique id of another',
    requests: jobs({ 'X-Gearman-Unique': 'u' }, 'one', 'other'),
  },
  {
    name: 'a queue that is full',
    before: ['create function mail\r', 'maxqueue mail 1'],
    requests: jobs({}, 'one', 'other', 'one'),
  },
  {
    name: 'a client that leaves before its job is done',
    requests: [http('POST', '/mail', {}, 'data')],
    leaves: true,
  },
]
