import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { warnOfGoingAway } from '../../../../src/doors/faktory/build-faktory.ts'
import { warnings } from '../../../../src/server/doors.ts'
import { recordingLog } from '../../../support/recording-log.ts'
import { describeFaktory } from '../support/faktory-gateway.ts'
import { figures } from '../support/figures.ts'

const example = fileURLToPath(
  new URL('../../../../../../examples/wordcount-worker.mjs', import.meta.url),
)

describeFaktory('a worker that goes away', (gateways) => {
  async function open(givesBack = false) {
    const recorded = recordingLog()
    const goingAway = warnOfGoingAway(
      warnings(recorded.log, () => 0),
      givesBack,
    )
    return { ...(await gateways.open({ goingAway })), recorded }
  }

  test('and still gets a job from a running FETCH is logged once', async () => {
    const { client, recorded } = await open()
    const worker = await client({ wid: 'worker-1' })
    for (const jid of ['job-00001', 'job-00002']) await worker.push(jid)
    worker.send('FETCH', 'FETCH', 'BEAT {"wid":"worker-1","current_state":"quiet"}')
    const replies = [await worker.reply(), await worker.reply(), await worker.reply()]
    expect(replies.map((reply) => /job-\d+|quiet/.exec(reply)?.[0])).toEqual([
      'job-00001',
      'job-00002',
      'quiet',
    ])
    expect(recorded.lines).toEqual([
      'A quiet Faktory worker got one more job: its FETCH was in progress.',
    ])
  })

  test.each([
    [false, 'they stay leased until reserve_for is over'],
    [true, 'unless it comes back within 60 s, others get them'],
  ])('with an unfinished job is logged (which goes back: %s)', async (givesBack, words) => {
    const { client, recorded } = await open(givesBack)
    const worker = await client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    worker.close()
    expect(await recorded.said(/left with unfinished jobs/)).toContain(words)
  })

  test('without one is not', async () => {
    const { client, recorded, door } = await open()
    const worker = await client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    await worker.ask('ACK {"jid":"12345678"}')
    worker.close()
    await expect.poll(() => door.connections).toBe(0)
    expect(recorded.lines).toEqual([])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'in the way of the example ends by itself at %s, and leaves no job behind',
    async (signal) => {
      const { client, port, door, recorded } = await open()
      const producer = await client()
      const env = { ...process.env, FAKTORY_URL: `tcp://127.0.0.1:${port}` }
      const child = spawn(process.execPath, [example], { env, stdio: 'ignore' })
      onTestFinished(() => void child.kill('SIGKILL'))
      const ended = once(child, 'exit')
      // The worker asks for one job after the other from then on.
      const push = (jid: string) => producer.push(jid, { jobtype: 'wordcount', args: ['one two'] })
      await push('before-01')
      await expect
        .poll(async () => (await figures(producer)).processed, soon)
        .toBeGreaterThanOrEqual(1)
      child.kill(signal)
      for (let at = 10; at < 30; at += 1) await push(`after-${at}`)
      expect(await ended).toEqual([0, null])
      await expect.poll(() => door.connections).toBe(1)
      expect(await figures(producer)).toMatchObject({ working: 0 })
      expect(recorded.lines).toEqual([])
    },
  )
})
