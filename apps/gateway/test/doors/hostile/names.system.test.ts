import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../faktory/support/fwp-client.ts'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import { Target } from './support/target.ts'

/** Names that mean something to a store, a language, a shell or a browser. */
const names = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'null',
  'undefined',
  'true',
  'NaN',
  '{a}',
  '}{',
  '{',
  '}',
  '{}',
  'a:b',
  ':',
  'xg:lanes',
  '{xg}:lanes',
  'xg:lane:a',
  'job:a:1',
  'queue:a:high',
  'uid:a',
  'lock:a:1',
  'count:a',
  'channel:a',
  '*',
  '?',
  '[a-z]',
  '[',
  '\\',
  '../..',
  '/etc/passwd',
  'a/b',
  '%00',
  '%2e%2e%2f',
  '.',
  '..',
  ' ',
  'a b',
  "';DROP TABLE a;--",
  '<script>alert(1)</script>',
  '${7*7}',
  '{{7*7}}',
  '$(id)',
  '`id`',
  "redis.call('FLUSHALL')",
  'a@b',
  '@',
  'a@',
  '@b',
  'a@b@c',
  '-1',
  '0',
  '1e309',
  'é',
  '\u202Etxt',
  '\uFEFF',
  '😀',
  // A label has three letters more, and 255 at most.
  'f'.repeat(252),
]
/** No door takes them: names stand in lines of text, and in messages of gateways. */
const withControls = ['a\nb', 'a\r\nFLUSHALL\r\n', 'a\tb', 'a\x7Fb', '\x1B[2J']
const password = 'of an operator'
const notUtf8 = [
  Buffer.from([0xff, 0xfe]),
  Buffer.from([0xc0, 0xaf]),
  Buffer.from([0xed, 0xa0, 0x80]),
]

describe.skipIf(lacksRedis)('a function with a hostile name', () => {
  let target: Target
  beforeAll(async () => {
    target = await Target.start('--web-password', password)
    await target.redis.set('foreign', 'untouched')
  })
  afterAll(async () => {
    expect(await target.redis.get('foreign')).toBe('untouched')
    await target.stands()
    await target.stop()
  })

  async function peer(): Promise<GearmanPeer> {
    const opened = await GearmanPeer.ofTest(target.ports.gearman)
    return opened
  }

  test.each(names)('%j has its own jobs at the Gearman door', async (name) => {
    const [client, worker] = [await peer(), await peer()]
    const handle = await client.submit('SUBMIT_JOB', name, '', `for ${name}`)
    worker.send('CAN_DO', name)
    const job = await worker.ask('GRAB_JOB')
    expect([job[0], job.at(-1)]).toEqual(['JOB_ASSIGN', `for ${name}`])
    worker.send('WORK_COMPLETE', job[1] ?? '', 'done')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
  })

  test.each(names)('%j is a job type', async (jobtype) => {
    const hello = { wid: 'names', labels: [`fn:${jobtype}`] }
    const client = await FwpClient.ofTest(target.ports.faktory, hello)
    const jid = `names-${names.indexOf(jobtype)}000`
    const job = { jid, jobtype, queue: 'hostile', args: [jobtype] }
    expect(await client.ask(`PUSH ${JSON.stringify(job)}`)).toBe('+OK')
    expect(await client.askJson('FETCH hostile')).toMatchObject({ jid, jobtype, args: [jobtype] })
    expect(await client.ask(`ACK ${JSON.stringify({ jid })}`)).toBe('+OK')
  })

  test.each(['', ...withControls])('%j is no job type', async (jobtype) => {
    const client = await FwpClient.ofTest(target.ports.faktory)
    const job = { jid: 'refused-0', jobtype, args: [] }
    expect(await client.ask(`PUSH ${JSON.stringify(job)}`)).toMatch(/^-ERR /)
  })

  test.each([...withControls, 'v\0x', 'a\x005', ''])(
    '%j is no function of the API',
    async (name) => {
      const web = `http://127.0.0.1:${target.ports.web}/api/v1`
      const calls = [
        ['jobs', { function: name }],
        ['jobs', { function: name, queue: 'bulk' }],
        ['functions/pause', { functions: [name] }],
        ['functions/open', { functions: [name] }],
        ['functions/limits', { function: name, high: 1, normal: 1, low: 1 }],
      ] as const
      for (const [path, body] of calls) {
        const { status } = await fetch(`${web}/${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${password}` },
          body: JSON.stringify(body),
        })
        expect([path, status]).toEqual([path, 400])
      }
    },
  )

  test.each(['', ...withControls, ...notUtf8])('%j is no function', async (name) => {
    const client = await peer()
    client.send('SUBMIT_JOB_BG', name, '', 'x')
    expect((await client.receive())[0]).toBe('ERROR')
  })
})
