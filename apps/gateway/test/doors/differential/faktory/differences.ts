/** Each thing that differs on purpose from Faktory 1.10.0: how it is here, and there. */
export const reasons = {
  end: {
    here: 'END is answered with `+OK` before the connection ends.',
    there: 'the connection ends without an answer',
  },
  reasons: {
    here: 'A refused HELLO, or a first line that is none, gets an error with the reason.',
    there: 'the connection ends without one',
  },
  features: {
    here: 'TRACK, BATCH and the options of `custom` that come with Faktory Enterprise do what they say.',
    there: 'they are refused, or have no effect',
  },
  info: {
    here: 'INFO has further fields, names the features that clients look for, and counts itself.',
    there: '`description` is `Faktory`',
  },
  text: {
    here: 'An unknown verb is repeated as one line of UTF-8.',
    there: 'it is repeated byte by byte',
  },
  missing: {
    here: 'A command without its argument, or without a queue, gets an error with the reason.',
    there: '`internal error`; `QUEUE PAUSE` of no queue is `+OK`',
  },
  fetchDefault: {
    here: '`FETCH` without a queue fetches from `default`, as the text of the protocol says.',
    there: 'it is an error',
  },
  half: {
    here: 'A client that has closed its half, or has gone, gets no job.',
    there: 'the job is reserved for it',
  },
  fields: {
    here: 'A job keeps its `priority` and unknown fields, also those of its `failure`.',
    there: 'they are dropped',
  },
  levels: { here: 'Jobs of a higher `priority` come first.', there: 'priorities have no effect' },
  jid: { here: 'A jid has at most 255 bytes.', there: 'it has any length' },
  queueNames: {
    here: 'Queue names have at most 255 bytes, and names outlive no FLUSH. A queue is listed from its first job on, also one that is due later.',
    there: 'names stay after FLUSH, and a queue is listed when a job of it is due',
  },
  retryDefault: {
    here: '`retry` of one job is not the default of the next.',
    there: 'PUSH changes it for jobs that name none',
  },
  twice: {
    here: 'If a jid is pushed and fetched twice, both jobs can be ended.',
    there: 'the second one stays reserved',
  },
  outcomes: {
    here: 'A job that another connection has failed by its jid is still ended by its worker: the first ACK counts, and a FAIL as one more.',
    there: 'its FAIL is an error, and its ACK changes nothing',
  },
  enqueuedAt: {
    here: 'A scheduled job that is put back by MUTATE has the time of it as `enqueued_at`; the latency of its queue is known.',
    there: 'it has none, and the latency is an error',
  },
  pushb: {
    here: 'PUSHB takes every good job of its list, and names each bad one.',
    there:
      'one field of a wrong type refuses the whole list, and bad jids are left out of the answer',
  },
  anyCase: {
    here: 'ACK takes the names of its fields in any case, and fields of any type beside them.',
    there: 'it refuses them',
  },
  cut: { here: 'A long text is cut between two characters.', there: 'it is cut between two bytes' },
  spaces: { here: 'MUTATE takes JSON with white space.', there: 'it is an invalid format' },
  paused: {
    here: 'A queue that is paused gives nothing to a FETCH that waits already.',
    there: 'it gets the next job',
  },
  quiet: {
    here: 'A worker that is quiet gets no job by any of its connections.',
    there: 'only the connection that said so is quiet',
  },
  flush: {
    here: 'A job that FLUSH has taken from its worker cannot fail any more.',
    there: 'its FAIL is `+OK`, and it is counted',
  },
  backtrace: {
    here: 'Of a backtrace as many lines are kept as the job asks for with `backtrace`.',
    there: '50 lines are kept, whatever it asks for',
  },
} as const

/** Replies of one case that differ, by why and step. */
type Differences = Readonly<Partial<Record<keyof typeof reasons, Readonly<Record<number, string>>>>>

/** The same reply at these steps. */
function at(steps: readonly number[], reply: string): Readonly<Record<number, string>> {
  return Object.fromEntries(steps.map((step) => [step, reply]))
}

const noHello = '-ERR the first command must be HELLO {...}'
const invalidHello = '-ERR invalid HELLO:'

/** Every reply that differs from the recording, by case. */
export const differences: Readonly<Record<string, Differences>> = {
  'handshake: producer': { end: { 7: '+OK', 8: 'EOF' } },
  'handshake: version, refused': {
    reasons: {
      ...at([3, 7], `${invalidHello} v is out of bounds`),
      ...at([11, 15, 19], `${invalidHello} invalid JSON: v must be an integer`),
      20: 'EOF',
    },
  },
  'handshake: labels': {
    reasons: {
      11: `${invalidHello} invalid JSON: labels must be a string`,
      15: `${invalidHello} invalid JSON: labels must be an array of strings`,
    },
  },
  'handshake: wid': { reasons: { 23: `${invalidHello} invalid JSON: wid must be a string` } },
  'handshake: pid': {
    reasons: at([11, 15], `${invalidHello} invalid JSON: pid must be an integer`),
  },
  'handshake: first lines that are not taken': {
    reasons: {
      ...at([3, 7, 11, 15, 19, 23, 27, 31, 47], noHello),
      35: `${invalidHello} invalid JSON: unexpected end of JSON input`,
      39: `${invalidHello} invalid JSON: unexpected "x" at character 8`,
      43: `${invalidHello} invalid JSON: unexpected "v" at character 1`,
      48: 'EOF',
    },
  },
  'handshake: lines that end in LF, in pieces, in one write': {
    features: { 13: '-ERR invalid TRACK ' },
    reasons: { 17: noHello },
  },
  'password: none': { reasons: { 15: noHello, 16: 'EOF' } },
  'password: a field of the wrong type': {
    reasons: {
      3: `${invalidHello} invalid JSON: pwdhash must be a string`,
      7: `${invalidHello} invalid JSON: v must be an integer`,
      8: 'EOF',
    },
  },
  'framing: verbs': { text: { 22: '-ERR unknown command FLUSH ' } },
  'framing: bytes that are no text': { text: { 2: '-ERR unknown command ��\u0001' } },
  'framing: verbs with more than they need': { end: { 8: '+OK', 9: 'EOF' } },
  'framing: verbs without their argument': {
    end: {
      ...at([2, 6], '-ERR invalid JSON: unexpected end of JSON input'),
      12: '-ERR invalid ACK ',
      16: '-ERR invalid FAIL ',
      20: '-ERR invalid BEAT ',
      28: '-ERR no such QUEUE subcommand: ',
    },
    fetchDefault: { 10: '$-1' },
    features: { 32: '-ERR invalid TRACK ', 34: '-ERR invalid BATCH ' },
  },
  'framing: half-closed after whole commands': {
    half: {
      3: '$-1',
      6: '{"faktory.queues":{"default":1},"faktory.sets":{"scheduled":0,"retries":0,"dead":0,"working":0},"faktory.total_enqueued":1}',
    },
  },
  'framing: what comes after END is not done': { end: { 2: '+OK' } },
  'push: every field': {
    fields: {
      4: '$ {"retry":7,"custom":{"locale":"fr","n":1},"jid":"jid00001","queue":"mail","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","at":"<time>","args":[1,"two",null,true,{"k":[]}],"reserve_for":600,"backtrace":3,"priority":5}',
    },
  },
  'push: jid': {
    jid: {
      22: '-ERR jobs must have a reasonable jid parameter',
      32: '$ {"retry":25,"jid":"        ","queue":"j","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[]}',
      34: '$-1',
    },
  },
  'push: queue names, taken': {
    queueNames: {
      18: '{"faktory.queues":{"0":1,"default":2,"UPPER":1,"a.b-c_d":1,"...":1,"-":1,"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq":1}}',
    },
  },
  'push: retry changes the default of what comes after': {
    retryDefault: {
      8: '$ {"retry":25,"jid":"jid00002","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[]}',
      12: '$ {"retry":25,"jid":"jid00003","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[]}',
    },
  },
  'push: custom': { features: { 20: '$-1' } },
  'push: custom of paid features does nothing': {
    features: {
      4: '-NOTUNIQUE Job not unique',
      8: '-ERR No such batch b-unknown',
      10: '{"faktory.queues":{"default":2}}',
      ...at([14, 16, 18], '$-1'),
    },
  },
  'push: a failure of its own': {
    fields: {
      4: '$ {"retry":2,"failure":{"retry_count":1,"remaining":1,"failed_at":"<time>","message":"old","errtype":"Old","backtrace":["x"],"foo":1},"jid":"jid00001","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[]}',
    },
  },
  'push: priority and unknown fields': {
    fields: {
      6: '$ {"retry":25,"jid":"jid00001","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[],"priority":9,"foo":"bar","failed":true}',
      8: '$ {"retry":25,"jid":"jid00002","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[],"priority":"high"}',
    },
  },
  'push: one jid twice': {
    twice: {
      20: '{"faktory.sets":{"scheduled":0,"retries":0,"dead":0,"working":0},"faktory.total_processed":2}',
    },
  },
  'push: at, scheduled': {
    queueNames: { 12: '{"faktory.queues":{"default":0}}' },
    enqueuedAt: {
      16: '$ {"retry":25,"jid":"jid00005","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","at":"<time>","args":[]}',
      20: '$ {"retry":25,"jid":"jid00002","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","at":"<time>","args":[]}',
    },
  },
  'pushb: good and bad ones': {
    pushb: {
      2: '$ {"short":"jobs must have a reasonable jid parameter","jid00003":"jobs must have a jobtype parameter","jid00004":"jobs must have an args parameter","jid00005":"cannot get \\"a b\\" queue: queue names must match \\\\A[a-zA-Z0-9._-]+\\\\z","jid00006":"jobs cannot be reserved for more than one day","jid00007":"invalid timestamp for \'at\': \\"x\\": must be RFC 3339 with a time zone"}',
    },
  },
  'pushb: one jid twice, one wrong type': {
    pushb: {
      4: '$ {"":"invalid JSON: jid must be a string"}',
      6: '{"faktory.queues":{"default":3}}',
    },
  },
  'pushb: what is no list': {
    pushb: { 10: '$ {"":"invalid JSON: expected an object at character 0"}' },
  },
  'fetch: first in first out, whatever the type and the priority': {
    levels: {
      12: '$ {"retry":25,"jid":"jid00001","queue":"default","jobtype":"B","created_at":"<time>","enqueued_at":"<time>","args":[],"priority":9}',
      14: '$ {"retry":25,"jid":"jid00003","queue":"default","jobtype":"C","created_at":"<time>","enqueued_at":"<time>","args":[],"priority":7}',
      16: '$ {"retry":25,"jid":"jid00002","queue":"default","jobtype":"A","created_at":"<time>","enqueued_at":"<time>","args":[],"priority":5}',
      18: '$ {"retry":25,"jid":"jid00004","queue":"default","jobtype":"B","created_at":"<time>","enqueued_at":"<time>","args":[],"priority":3}',
      20: '$ {"retry":25,"jid":"jid00000","queue":"default","jobtype":"A","created_at":"<time>","enqueued_at":"<time>","args":[],"priority":1}',
    },
  },
  'fetch: every priority': {
    levels: Object.fromEntries(
      Array.from({ length: 9 }, (_none, place) => [
        20 + 2 * place,
        `$ {"retry":25,"jid":"jid0000${9 - place}","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[],"priority":${9 - place}}`,
      ]),
    ),
  },
  'fetch: the client has gone, the job is reserved all the same': {
    half: {
      9: '{"faktory.sets":{"scheduled":0,"retries":0,"dead":0,"working":0},"faktory.queues":{"default":1}}',
    },
  },
  'ack: words': {
    anyCase: {
      20: '+OK',
      22: '+OK',
      30: '{"faktory.sets":{"scheduled":0,"retries":0,"dead":0,"working":0}}',
    },
  },
  'fail: long words': {
    cut: {
      22: '$ {"retry":25,"failure":{"retry_count":0,"failed_at":"<time>","next_at":"<time>","message":"<鍵*333>","errtype":"<ж*50>","backtrace":["<b*3000>"],"remaining":25},"jid":"jid00002","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[]}',
    },
  },
  'mutate: requeue from scheduled by jobtype': {
    queueNames: { 10: '{"faktory.queues":{"a":1,"b":1,"c":0},"faktory.total_queues":3}' },
    enqueuedAt: {
      12: '$ {"retry":25,"jid":"jid00001","queue":"a","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","at":"<time>","args":["a"]}',
    },
  },
  'mutate: requeue from scheduled by jids': {
    queueNames: { 10: '{"faktory.queues":{"a":1,"b":0,"c":1}}' },
  },
  'mutate: requeue from scheduled by regexp': {
    queueNames: {
      10: '{"faktory.queues":{"a":0,"b":0,"c":0}}',
      14: '{"faktory.queues":{"a":1,"b":0,"c":1}}',
    },
  },
  'mutate: kill scheduled': {
    enqueuedAt: {
      14: '$ {"retry":25,"jid":"jid00001","queue":"a","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","at":"<time>","args":["a"]}',
    },
  },
  'mutate: errors': { spaces: { 30: '+OK', 32: '+OK' } },
  'queue: paused while a fetch waits': { paused: { 12: '$-1' } },
  'queue: paused, and jobs in hand': {
    retryDefault: {
      8: '$ {"retry":25,"jid":"jid00002","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[]}',
    },
  },
  'queue: errors': {
    missing: {
      ...at([6, 14], '-ERR QUEUE PAUSE needs at least one queue'),
      8: '-ERR QUEUE RESUME needs at least one queue',
      10: '-ERR QUEUE REMOVE needs at least one queue',
    },
  },
  'fail: twice, after ACK, before ACK, by another connection': {
    outcomes: {
      13: '+OK',
      21: '{"faktory.sets":{"scheduled":0,"retries":0,"dead":0,"working":0},"faktory.total_failures":2,"faktory.total_processed":4}',
    },
  },
  'queue: latency of a job that was put back': { enqueuedAt: { 6: '$ {"default":<seconds>}' } },
  'beat: by another connection, by a producer, after the worker has gone': { end: { 7: '+OK' } },
  'beat: two connections of one wid': { end: { 7: '+OK' } },
  'beat: quiet binds one connection of a wid': { quiet: { 7: '$-1' } },
  'info: a fresh server': {
    info: { 2: '{"server.description":"Faktory Enterprise (Crossgear)"}' },
  },
  'info: connections, commands, workers': {
    info: {
      10: '{"server.description":"Faktory Enterprise (Crossgear)","server.command_count":4}',
    },
  },
  'info: counts': {
    queueNames: {
      10: '{"faktory.queues":{"a":2,"b":1,"default":0},"faktory.total_queues":3}',
      ...at([14, 18], '{"faktory.queues":{"a":1,"b":1,"default":0},"faktory.total_queues":3}'),
      24: '{"faktory.queues":{"a":0,"b":1,"default":0},"faktory.total_queues":3}',
    },
  },
  track: { features: { 4: '$ {"jid":"jid00001","state":"unknown","updated_at":""}', 6: '+OK' } },
  batch: {
    features: {
      2: '$ <bid>',
      ...at([4, 6, 8], '-ERR No such batch b-1'),
    },
  },
  'flush: everything goes': {
    queueNames: { 24: '{"faktory.queues":{},"faktory.total_queues":0}' },
  },
  'flush: jobs in hand': {
    flush: {
      14: '-ERR Job not found jid00002',
      16: '{"faktory.queues":{},"faktory.total_processed":0,"faktory.total_queues":0}',
    },
  },
  'fail: backtrace of the job': {
    backtrace: {
      10: '$ {"retry":25,"failure":{"retry_count":0,"failed_at":"<time>","next_at":"<time>","message":"boom","errtype":"RuntimeError","backtrace":["1"],"remaining":25},"jid":"jid00001","queue":"default","jobtype":"Mail","created_at":"<time>","enqueued_at":"<time>","args":[],"backtrace":1}',
    },
  },
}
