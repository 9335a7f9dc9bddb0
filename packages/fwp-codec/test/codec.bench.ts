import { bench, describe } from 'vitest'
import {
  bulk,
  LineDecoder,
  parseAck,
  parseCommand,
  parseJob,
  renderJob,
  writeEnvelope,
} from '../src/index.ts'

/** Lines in one chunk, about what one read of a busy connection brings. */
const lines = 100

const jobText = JSON.stringify({
  jid: 'bench-0000000001',
  jobtype: 'function',
  queue: 'default',
  args: ['x'.repeat(100)],
  retry: 3,
  reserve_for: 600,
  created_at: '2026-01-02T03:04:05.678901Z',
  custom: { locale: 'en', tenant: 12 },
})
const push = Buffer.from(`PUSH ${jobText}\r\n`)
const ack = Buffer.from('{"jid":"bench-0000000001"}')
const chunk = Buffer.concat(Array.from({ length: lines }, () => push))
const argument = Buffer.from(jobText)
const job = parseJob(argument)
const envelope = writeEnvelope(job)
const overrides = new Map([['enqueued_at', '"2026-01-02T03:04:06Z"']])

describe(`${lines} a call`, () => {
  bench('lines of PUSH, verb and argument', () => {
    const decoder = new LineDecoder()
    decoder.push(chunk)
    for (let line = decoder.next(); line !== undefined; line = decoder.next()) parseCommand(line)
  })
  bench('job of a PUSH', () => {
    for (let i = 0; i < lines; i++) parseJob(argument)
  })
  bench('envelope as it is stored', () => {
    for (let i = 0; i < lines; i++) writeEnvelope(job)
  })
  bench('job as a FETCH shows it', () => {
    for (let i = 0; i < lines; i++) bulk(renderJob(envelope, overrides, job.args))
  })
  bench('argument of an ACK', () => {
    for (let i = 0; i < lines; i++) parseAck(ack)
  })
})
