import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import { describeFleet } from './support/fleet.ts'

const folder = mkdtempSync(join(tmpdir(), 'crossgear-on-death-'))
const file = join(folder, 'crossgear.toml')
writeFileSync(
  file,
  `[routes.legacy]
retries = 0
on_death = { jobtype = "report", queue = "alarms", args = ["legacy"], priority = 8 }
`,
)

const words = ['--config', file, '--drain-seconds', '0']

describeFleet('a job that dies tells somebody:', words, (fleet) => {
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Pushes a job that dies at its first failure. */
  async function pushMortal(producer: FwpClient, jid: string, queue = 'mortals'): Promise<void> {
    const custom = { on_death: { jobtype: 'bury', queue: `${queue}-graves`, args: [jid] } }
    const job = { jobtype: 'mortal', queue, retry: -1, custom }
    expect(await producer.push(jid, job)).toBe('+OK')
  }

  const fail = (worker: FwpClient, jid: string): Promise<string> =>
    worker.ask(`FAIL ${JSON.stringify({ jid, errtype: 'Broken', message: 'no disk' })}`)

  test('a Faktory job its on_death, which a Gearman worker can do', async () => {
    const client = await fleet.first.client({ wid: 'w-1' })
    const gravedigger = await fleet.first.peer('bury')
    await pushMortal(client, 'mortal-1')
    await client.askJson('FETCH mortals')
    expect(await fail(client, 'mortal-1')).toBe('+OK')
    expect(JSON.parse(await gravedigger.doNextJob())).toEqual([
      'mortal-1',
      {
        function: 'mortal',
        queue: 'mortals',
        jid: 'mortal-1',
        failure: expect.objectContaining({ errtype: 'Broken', message: 'no disk' }) as unknown,
      },
    ])
  })

  test('a Gearman job what its route says, to a Faktory consumer', async () => {
    const peer = await fleet.first.peer('legacy')
    const handle = await peer.submit('SUBMIT_JOB_BG', 'legacy', '', 'payload')
    await peer.ask('GRAB_JOB')
    peer.send('WORK_EXCEPTION', handle, 'out of paper').send('WORK_FAIL', handle)
    const consumer = await fleet.first.client({ wid: 'w-2' })
    const told: Record<string, unknown> = await consumer.askJson('FETCH alarms')
    expect(told).toMatchObject({ jobtype: 'report', queue: 'alarms', priority: 8 })
    const [first, died] = told['args'] as [string, Record<string, string>]
    expect(first).toBe('legacy')
    expect(died).toMatchObject({ function: 'legacy', failure: { message: 'out of paper' } })
    const dead = await consumer.askJson(`TRACK GET ${died['jid']}`)
    expect(dead).toMatchObject({ jid: died['jid'], state: 'dead' })
  })

  test('not if it is done, or an operator deletes it', async () => {
    const client = await fleet.first.client({ wid: 'w-3' })
    await pushMortal(client, 'immortal', 'quiet')
    await client.askJson('FETCH quiet')
    await client.ask('ACK {"jid":"immortal"}')
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const custom = { on_death: { jobtype: 'bury', queue: 'quiet-graves' } }
    await client.push('deleted-1', { jobtype: 'mortal', queue: 'quiet', at, custom })
    const command = { cmd: 'discard', target: 'scheduled', filter: { jids: ['deleted-1'] } }
    expect(await client.ask(`MUTATE ${JSON.stringify(command)}`)).toBe('+OK')
    expect(await fleet.redis.hget('xg:lane:bury@quiet-graves', 'submitted')).toBeNull()
  })

  test.each([
    ['{"on_death":"report"}', /invalid custom value for 'on_death'/],
    ['{"on_death":{"queue":"x"}}', /on_death.*jobtype/],
    [`{"on_death":{"jobtype":"x","args":["${'x'.repeat(17_000)}"]}}`, /more than 16384/],
  ])('not where that is no job: %.40s', async (custom, refusal) => {
    const client = await fleet.first.client()
    const push = `PUSH {"jid":"not-stored","jobtype":"mortal","args":[],"custom":${custom}}`
    expect(await client.ask(push)).toMatch(refusal)
  })

  test('once, though gateways are killed while jobs die', async () => {
    const jobs = Array.from({ length: 120 }, (_, at) => `killed-${at}`)
    const producer = await fleet.first.client()
    for (const jid of jobs) await pushMortal(producer, jid, 'doomed')
    for (let killed = 0; killed < 3; killed += 1) {
      const gateway = await fleet.node(...words)
      const worker = await gateway.client({ wid: `doomed-${killed}` })
      const begun: unknown[] = []
      while (begun.length < 30) begun.push((await worker.askJson('FETCH doomed'))['jid'])
      for (const jid of begun.slice(0, 25)) await fail(worker, String(jid))
      // The last ones are on their way when the gateway is killed.
      worker.send(...begun.slice(25).map((jid) => `FAIL ${JSON.stringify({ jid })}`))
      await gateway.kill()
    }
    const died = (): Promise<string | null> => fleet.redis.hget('xg:lane:mortal@doomed', 'died')
    expect(Number(await died())).toBeGreaterThanOrEqual(75)
    const gravedigger = await fleet.first.peer('bury')
    const told: string[] = []
    while (told.length < Number(await died()))
      told.push((JSON.parse(await gravedigger.doNextJob()) as [string])[0])
    expect(new Set(told).size).toBe(told.length)
    expect(await gravedigger.ask('GRAB_JOB')).toEqual(['NO_JOB'])
  })
})
