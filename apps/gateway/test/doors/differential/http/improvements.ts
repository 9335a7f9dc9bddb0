/** A case of the HTTP port in which Crossgear does better than gearmand on purpose. */
interface HttpImprovement {
  readonly reason: string
  /** Lines that only one of the servers says. */
  readonly gearmand: readonly string[]
  readonly crossgear: readonly string[]
}

/** By the names of their cases. */
type HttpImprovements = Readonly<Record<string, HttpImprovement>>

/** The answer to a background job. */
const jobCreated = [
  '200',
  'Content-Length: 0',
  'Server: Gearman/<version>',
  'X-Gearman-Command: JOB_CREATED',
  'X-Gearman-Job-Handle: H#',
  'body ""',
]

/** All differences from gearmand. */
export const httpImprovements: HttpImprovements = {
  'POST and WORK_FAIL': {
    reason: 'The handle is complete.',
    gearmand: ['X-Gearman-Job-Handle: H:test:'],
    crossgear: ['X-Gearman-Job-Handle: H#'],
  },
  'POST and WORK_DATA': {
    reason: 'The data is part of the body. gearmand overwrites its own answer.',
    gearmand: ['what is no answer'],
    crossgear: [
      '200',
      'Content-Length: 8',
      'Server: Gearman/<version>',
      'X-Gearman-Command: WORK_COMPLETE',
      'X-Gearman-Job-Handle: H#',
      'body "moredone"',
    ],
  },
  'POST and WORK_WARNING': {
    reason: 'A warning does not end the request: the answer has the result.',
    gearmand: ['Content-Length: 7', 'body "careful"'],
    crossgear: ['Content-Length: 11', 'body "carefuldone"'],
  },
  'POST and WORK_STATUS': {
    reason: 'Progress does not end the request: the answer has the result.',
    gearmand: ['Content-Length: 0', 'X-Gearman-Command: WORK_STATUS', 'body ""'],
    crossgear: ['Content-Length: 4', 'X-Gearman-Command: WORK_COMPLETE', 'body "done"'],
  },
  'HEAD and WORK_COMPLETE': {
    reason: 'An answer to HEAD has the headers of GET and no body.',
    gearmand: ['body "done"'],
    crossgear: ['X-Gearman-Command: WORK_COMPLETE', 'body ""'],
  },
  'HEAD with a body, a background job': {
    reason: 'An answer to HEAD has the headers of GET.',
    gearmand: [],
    crossgear: ['X-Gearman-Command: JOB_CREATED'],
  },
  'GET /': {
    reason: 'The answer says that the function is missing.',
    gearmand: ['Content-Length: 0', 'body ""'],
    crossgear: ['Content-Length: 32', 'body "Name a function: POST /function\\n"'],
  },
  DELETE: {
    reason: 'An unsupported method gets an answer.',
    gearmand: [],
    crossgear: [
      '405',
      'Content-Length: 27',
      'Server: Gearman/<version>',
      'body "Use GET, HEAD, PUT or POST\\n"',
    ],
  },
  'no HTTP': {
    reason: 'A client that does not send HTTP gets an error.',
    gearmand: [],
    crossgear: [
      '400',
      'Content-Length: 45',
      'body "This is not HTTP: Invalid method encountered\\n"',
    ],
  },
  'a header with an invalid name': {
    reason:
      'A head that proxies may read in another way is refused: no second request hides in it.',
    gearmand: [
      ...jobCreated,
      'prioritystatus "mail\\t0\\t1\\t0\\t0\\n"',
      'show unique jobs "-\\n"',
    ],
    crossgear: ['400', 'Content-Length: 39', 'body "This is not HTTP: Invalid header token\\n"'],
  },
  'a path with a query': {
    reason: 'The query is not part of the function name.',
    gearmand: ['prioritystatus "mail?x=1\\t0\\t1\\t0\\t0\\n"'],
    crossgear: ['prioritystatus "mail\\t0\\t1\\t0\\t0\\n"'],
  },
  'a path with percent signs': {
    reason: 'Paths are percent-encoded, so every function name can be used.',
    gearmand: ['prioritystatus "a%20b\\t0\\t1\\t0\\t0\\n"'],
    crossgear: ['prioritystatus "a b\\t0\\t1\\t0\\t0\\n"'],
  },
  'X-Gearman-Unique of 65 bytes': {
    reason: 'A request that submits no job does not get 200.',
    gearmand: [
      '200',
      'Content-Length: 0',
      'X-Gearman-Command: ERROR',
      'X-Gearman-Job-Handle: ARGUMENT_TOO_LARGE',
      'body ""',
    ],
    crossgear: ['400', 'Content-Length: 34', 'body "X-Gearman-Unique is over 64 bytes\\n"'],
  },
  'two requests on one connection': {
    reason:
      'The connection stays open, and each request is answered. gearmand takes both jobs and answers one.',
    gearmand: [],
    crossgear: jobCreated,
  },
  'a queue that is full': {
    reason:
      'A request that submits no job does not get 200; 503 means that the client may try again.',
    gearmand: [
      'X-Gearman-Command: ERROR',
      'X-Gearman-Job-Handle: QUEUE_ERROR',
      '200',
      'Content-Length: 0',
      'body ""',
    ],
    crossgear: ['503', 'Content-Length: 34', 'body "The queue of the function is full\\n"'],
  },
}
