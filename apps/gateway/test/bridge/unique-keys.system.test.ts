import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { lacks } from '@crossgear/tools/lacks'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import type { GearmanPeer } from '../doors/gearman/support/gearman-peer.ts'
import { Fleet, type FleetNode } from './support/fleet.ts'

const program = fileURLToPath(new URL('programs/hanging-worker.mjs', import.meta.url))
const lacksGearman = lacks('gearman', '-H')
const run = promisify(execFile)

describe.skipIf(lacksRedis || lacksGearman)(
  'a native worker that is killed with a job of a unique key',
  () => {
    let fleet: Fleet
    let node: FleetNode
    let running: readonly string[] | undefined
    let fn: string
    const lease = ['--repair-lease-seconds', '1']
    beforeAll(async () => {
      fleet = await Fleet.start()
    })
    beforeEach(() => {
      fn = randomUUID()
    })
    afterAll(() => fleet.close())

    /** The only gateway has these options from now on. */
    async function start(...words: readonly string[]): Promise<void> {
      if (running?.join() === words.join()) return
      if (running) await node.stop()
      node = await fleet.node(...words)
      running = words
    }

    /** The stock client; what it prints. */
    async function submit(payload: string, ...words: readonly string[]): Promise<string> {
      const options = ['-h', '127.0.0.1', '-p', String(node.gearman), '-f', fn, '-u', 'key']
      const { stdout } = await run('gearman', [...options, ...words, payload])
      return stdout
    }

    /** A process takes the job, before or after it says so, and is killed with it. */
    async function dieWithJob(stage: 'popped' | 'busy'): Promise<void> {
      const words = [program, fleet.server.path, fn, stage]
      const worker = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(worker.stdout, 'data')
      worker.kill('SIGKILL')
      await once(worker, 'exit')
      const job = await fleet.redis.hgetall(`job:${fn}:1`)
      expect(job).toMatchObject({ status: stage === 'busy' ? 'busy' : 'idle', unique: 'key' })
    }

    /** The next worker's job: handle and payload. */
    async function nextJob(worker: GearmanPeer): Promise<[handle: string, payload: string]> {
      await worker.send('CAN_DO', fn).sync()
      expect(await worker.ask('PRE_SLEEP')).toEqual(['NOOP'])
      const [name, handle = '', , payload = ''] = await worker.ask('GRAB_JOB')
      expect(name).toBe('JOB_ASSIGN')
      return [handle, payload]
    }

    /** The next worker does the job with this payload. */
    async function doNext(expected: string, output: string): Promise<void> {
      const worker = await node.peer()
      const [handle, payload] = await nextJob(worker)
      expect(payload).toBe(expected)
      await worker.send('WORK_COMPLETE', handle, output).sync()
    }

    test('before it was busy: the job is queued again, for all clients that joined it', async () => {
      await start()
      await submit('first', '-b')
      await dieWithJob('popped')
      await start(...lease)
      const waiting = submit('second')
      await doNext('first', 'done')
      expect(await waiting).toBe('done')
      expect(await fleet.redis.hlen(`xg:unique:${fn}`)).toBe(0)
    })

    test('while it was busy: after the lease a submission creates a new job, which is run', async () => {
      await start()
      await submit('first', '-b')
      await dieWithJob('busy')
      await submit('joins', '-b')
      await start(...lease)
      await expect.poll(() => fleet.redis.hlen(`xg:unique:${fn}`)).toBe(0)
      const waiting = submit('second')
      await doNext('second', 'done')
      expect(await waiting).toBe('done')
      // The other is left alone: its worker might only be slow.
      expect(await fleet.redis.hget(`job:${fn}:1`, 'status')).toBe('busy')
    })

    const orders: Readonly<Record<string, () => Promise<void>>> = {
      'cancel job': async () => {
        const asking = await node.peer()
        const [, handle] = await asking.ask('SUBMIT_JOB_BG', fn, 'key', 'joins')
        expect(await asking.command(`cancel job ${handle ?? ''}`)).toBe('OK')
      },
      'drop function': async () => {
        expect(await (await node.peer()).command(`drop function ${fn}`)).toBe('OK')
      },
      FLUSH: async () => {
        expect(await (await node.client()).ask('FLUSH')).toBe('+OK')
      },
    }
    test.each(
      Object.keys(orders).flatMap((order) => [
        [order, 'popped' as const],
        [order, 'busy' as const],
      ]),
    )('%s frees the key at once, where the job was %s', async (order, stage) => {
      await start()
      await submit('first', '-b')
      await dieWithJob(stage)
      await orders[order]?.()
      await submit('second', '-b')
      await doNext('second', '')
    })
  },
)
