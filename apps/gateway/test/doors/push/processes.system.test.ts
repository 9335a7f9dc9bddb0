import { writeFileSync } from 'node:fs'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { type Keys, pushTo, routesFile, routesText } from './support/routes.ts'
import { type Posted, startTarget } from './support/target.ts'

describe.skipIf(lacksRedis)('a gateway that pushes', () => {
  const redis = redisOfSuite({ isEmptied: true })

  /** Gateways in processes of their own that push by one file, which `write` changes. */
  async function fleet(keys: Keys = {}) {
    const target = await startTarget()
    const file = await routesFile({ resize: pushTo(target.url, keys) })
    const write = (routes: Readonly<Record<string, Keys>>): void =>
      writeFileSync(file, routesText(routes))
    const start = async (...words: readonly string[]) => {
      const gateway = gatewayOfTest([...wordsOn(redis(), 'gearman'), '--config', file, ...words])
      const ready = await gateway.ready
      return { ...gateway, peer: () => GearmanPeer.ofTest(ready.port('gearman')) }
    }
    return { target, write, start }
  }

  async function submitAll(peer: GearmanPeer, count: number): Promise<readonly string[]> {
    const payloads = Array.from({ length: count }, (_, at) => `job ${at}`)
    for (const payload of payloads) await peer.submit('SUBMIT_JOB_BG', 'resize', '', payload)
    return payloads
  }

  const left = (): Promise<unknown> => redis().ask('KEYS', 'job:resize:*')

  test.each(['another one', 'its successor'])(
    'is killed while requests run: %s has every job done',
    async (which) => {
      const { target, start } = await fleet({ push_concurrency: 4 })
      const doomed = await start()
      const held: Posted[] = []
      const done: string[] = []
      target.answerAll((posted) => {
        held.push(posted)
        // Some are done, and the others still run when the gateway dies.
        if (held.length > 3) return
        posted.answer(200)
        done.push(posted.body.toString())
      })
      const payloads = await submitAll(await doomed.peer(), 20)
      await expect.poll(() => held.length, soon).toBe(7)
      target.answerAll((posted) => {
        posted.answer(200)
        done.push(posted.body.toString())
      })
      if (which === 'another one') await start()
      await doomed.end('SIGKILL')
      if (which === 'its successor') await start()
      await expect.poll(left, soon).toBe('')
      expect([...new Set(done)].sort()).toEqual([...payloads].sort())
      expect(await redis().ask('ZCARD', 'xg:dead:resize')).toBe('0')
    },
  )

  test.each([
    ['as a request arrives', undefined, 0],
    ['as an answer leaves', 200, 0],
    ['when an answer has just come', 200, 3],
    ['as its target asks for a rest', 429, 0],
    ['while its target rests', 503, 50],
  ])('is killed %s: no accepted job is lost', async (_when, status, afterMs) => {
    const act = (posted: Posted, kill: () => void): void => {
      if (status !== undefined) {
        posted.answer(status, '', status === 200 ? {} : { 'Retry-After': '60' })
      }
      if (afterMs === 0) kill()
      else setTimeout(kill, afterMs)
    }
    const { target, start } = await fleet({ push_concurrency: 2 })
    const doomed = await start()
    const killed = new Promise<void>((resolve) => {
      target.answerAll((posted) => {
        if (target.all.length < 4) posted.answer(200)
        else if (target.all.length === 4)
          act(posted, () => void doomed.end('SIGKILL').then(() => resolve()))
      })
    })
    const peer = await doomed.peer()
    const accepted: string[] = []
    void (async () => {
      for (let at = 0; at < 12; at += 1) {
        await peer.submit('SUBMIT_JOB_BG', 'resize', '', `job ${at}`)
        accepted.push(`job ${at}`)
      }
    })()
    await killed
    target.answerAll((posted) => posted.answer(200))
    await start()
    await expect.poll(left, soon).toBe('')
    expect(await redis().ask('ZCARD', 'xg:dead:resize')).toBe('0')
    const came = target.all.map(({ body }) => body.toString())
    expect(accepted.length).toBeGreaterThan(2)
    expect(came).toEqual(expect.arrayContaining(accepted))
  })

  test('that stops sends nothing more, and waits for the answers under way', async () => {
    const { target, start } = await fleet({ push_concurrency: 1 })
    const gateway = await start('--drain-seconds', '60')
    const client = await gateway.peer()
    const handle = await client.submit('SUBMIT_JOB', 'resize', '', 'first')
    await submitAll(client, 3)
    const posted = await target.next()
    gateway.child.kill('SIGTERM')
    await gateway.said(/running jobs have 60 s to end/)
    posted.answer(200, 'in time')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'in time'])
    expect((await gateway.exited).code).toBe(0)
    expect(target.all).toHaveLength(1)
  })

  test('gives back what is not done when its time to stop is over', async () => {
    const { target, start } = await fleet()
    const gateway = await start('--drain-seconds', '0')
    const [payload = ''] = await submitAll(await gateway.peer(), 1)
    const posted = await target.next()
    expect((await gateway.end()).code).toBe(0)
    expect(posted.isGone()).toBe(true)
    expect(await redis().ask('LLEN', 'queue:resize:normal')).toBe('1')
    expect(await redis().ask('HEXISTS', 'job:resize:1', 'losses')).toBe('0')
    await start()
    const again = await target.next()
    expect([again.body.toString(), again.headers['crossgear-attempt']]).toEqual([payload, '1'])
    again.answer(200)
  })

  test('takes changed, new and removed targets over by a reload, and refuses a wrong one', async () => {
    const { target, write, start } = await fleet({ push_concurrency: 1 })
    const other = await startTarget()
    const gateway = await start()
    let reloads = 0
    const reload = async (routes: Readonly<Record<string, Keys>>): Promise<void> => {
      write(routes)
      gateway.child.kill('SIGHUP')
      await gateway.said(/Reload \(SIGHUP\): (routes changed|nothing is)/, (reloads += 1))
    }
    const client = await gateway.peer()
    await submitAll(client, 2)
    const first = await target.next()
    await reload({ resize: pushTo(other.url, { push_concurrency: 2 }), mail: pushTo(other.url) })
    const moved = await other.next()
    expect(moved.body.toString()).toBe('job 1')
    const handle = await client.submit('SUBMIT_JOB', 'mail', '', 'new')
    ;(await other.next()).answer(200, 'mailed')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'mailed'])
    await reload({ resize: pushTo('https://user:sesame@10.0.0.1', { push_private: false }) })
    const [line = ''] = await gateway.said(/routes.resize.push in .* is a private address/)
    expect(line).not.toContain('sesame')
    await reload({ mail: pushTo(other.url) })
    first.answer(200)
    moved.answer(200)
    await expect.poll(left, soon).toBe('')
    await submitAll(client, 1)
    await expect.poll(() => client.list('status')).toContainEqual('resize\t1\t0\t0')
    expect([target.all.length, other.all.length]).toEqual([1, 2])
  })

  test('does not start with a wrong route', async () => {
    const { write, start } = await fleet()
    write({ resize: { push: 'https://localhost/' } })
    await expect(start()).rejects.toThrow(
      /routes\.resize\.push in \S+ is a private address, which takes push_private = true\./,
    )
  })
})
