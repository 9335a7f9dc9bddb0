import { fork } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { soon } from '@crossgear/tools/wait-for'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import { GearmanPeer } from '../doors/gearman/support/gearman-peer.ts'
import { gatewayOfTest, startGateway, wordsOn } from '../support/gateway-process.ts'
import { describeFleet, Fleet } from './support/fleet.ts'

const program = fileURLToPath(
  new URL('../doors/faktory/programs/resize-worker.mjs', import.meta.url),
)

type Said = Readonly<Record<string, unknown>>

describeFleet('a stock worker that knows one job type', [], (fleet) => {
  async function resizeWorker(): Promise<Said[]> {
    const child = fork(program, [String(fleet.first.faktory)], { execArgv: [] })
    onTestFinished(async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    })
    const said: Said[] = []
    child.on('message', (message: Said) => void said.push(message))
    await vi.waitFor(() => expect(said).toContainEqual({ said: 'ready' }), soon)
    return said
  }

  /** The job that the worker does when it has taken what it takes before it. */
  async function doesResize(said: readonly Said[]): Promise<void> {
    const producer = await fleet.first.client()
    await producer.push(randomUUID(), { jobtype: 'resize' })
    await vi.waitFor(() => expect(said).toContainEqual({ did: 'resize' }), soon)
  }

  test('takes no jobs of a function while its own workers are being deployed', async () => {
    const fn = `send_invoice_${randomUUID()}`
    const before = await fleet.first.peer(fn)
    await fleet.counted(fn, 1)
    await before.leave()
    await vi.waitFor(async () => expect(await fleet.redis.get(`count:${fn}`)).not.toBe('1'), soon)
    const said = await resizeWorker()
    await (await fleet.first.peer()).submit('SUBMIT_JOB_BG', fn, '', 'invoice 7')
    await doesResize(said)
    expect(said.filter(({ failed }) => failed !== undefined)).toEqual([])
    expect(await (await fleet.first.peer(fn)).doNextJob()).toBe('invoice 7')
  })

  test('that fails a job of a function without known workers loses nothing: its own workers get it at once', async () => {
    const fn = `send_invoice_${randomUUID()}`
    const said = await resizeWorker()
    await (await fleet.first.peer()).submit('SUBMIT_JOB_BG', fn, '', 'invoice 8')
    await vi.waitFor(() => {
      expect(said).toContainEqual(expect.objectContaining({ failed: fn }))
    }, soon)
    await vi.waitFor(async () => expect(await fleet.redis.zcard(`xg:retries:${fn}`)).toBe(1), soon)
    const failure = await fleet.redis.hget(`job:${fn}:1`, 'failure')
    expect(JSON.parse(failure ?? '')).toMatchObject({ retry_count: 0 })
    expect(await (await fleet.first.peer(fn)).doNextJob()).toBe('invoice 8')
    expect(await fleet.redis.exists(`job:${fn}:1`)).toBe(0)
  })
})

describe.skipIf(lacksRedis)('the log of functions and consumers', () => {
  test("names a command that solves the problem, and the command works on the gateway's store", async () => {
    const fleet = await Fleet.start()
    onTestFinished(() => fleet.close())
    const store = ['--redis-url', `unix://${fleet.server.path}`]
    const gateway = gatewayOfTest(wordsOn(fleet.server, 'gearman', 'faktory', 'web'))
    const { port } = await gateway.ready
    const functions = async (...words: readonly string[]): Promise<string> => {
      const { exited } = startGateway(['functions', ...words, ...store])
      const { code, stdout, stderr } = await exited
      expect(`${code} ${stderr}`).toBe('0 ')
      return stdout
    }
    const worker = (await GearmanPeer.ofTest(port('gearman'))).send('CAN_DO', 'legacy')
    await worker.sync()
    await fleet.counted('legacy', 1)
    const client = await GearmanPeer.ofTest(port('gearman'))
    await worker.leave()
    await client.submit('SUBMIT_JOB_BG', 'legacy', '', '[1]')
    await client.submit('SUBMIT_JOB_BG', 'unseen', '', '[2]')
    const consumer = await FwpClient.ofTest(port('faktory'), { wid: 'worker-1' })
    expect(await consumer.askJson('FETCH default')).toMatchObject({ jobtype: 'unseen' })
    await gateway.said(/"function":"unseen".*crossgear functions open unseen/)
    await gateway.said(/"function":"legacy".*crossgear functions open legacy/)
    const page = await fetch(`http://127.0.0.1:${port('web')}/metrics`)
    expect(await text(page.body!)).toContain('crossgear_closed_functions_waiting 1')
    expect(await functions('list')).toMatch(
      /^legacy\tclosed until .*\nunseen\topen, since no worker/,
    )
    consumer.send('FETCH default')
    expect(await functions('open', 'legacy')).toContain('legacy: open')
    const taken = await consumer.reply()
    const job = taken === '$-1' ? await consumer.ask('FETCH default') : taken
    expect(job).toContain('"jobtype":"legacy"')
    expect(await functions('close', 'unseen')).toContain('unseen: closed')
    await client.submit('SUBMIT_JOB_BG', 'unseen', '', '[3]')
    expect(await consumer.ask('FETCH default')).toBe('$-1')
    expect(await functions('list')).toBe('legacy\topen\nunseen\tclosed, by an operator\n')
  })
})
