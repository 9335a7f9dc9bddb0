import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { buildSteppingClock, lacksCompiler } from '@crossgear/tools/preload-library'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { describeFleet, Fleet, type FleetNode } from './support/fleet.ts'

const words = ['--job-retries', '2']

describeFleet('a gateway that is killed', words, (fleet) => {
  const another = () => fleet.node(...words)

  const waits = (fn: string, id: number): Promise<string | null> =>
    fleet.redis.hget(`job:${fn}:${id}`, 'wait')

  test('leaves no clients behind: jobs that only they waited for are not run, and those that run are kept for a minute', async () => {
    const doomed = await another()
    const here = await fleet.first.peer('runs')
    const gone = await doomed.peer()
    await gone.submit('SUBMIT_JOB', 'runs', '', 'alone')
    await gone.submit('SUBMIT_JOB', 'runs', 'shared', 'shared')
    const client = await fleet.first.peer()
    const shared = await client.submit('SUBMIT_JOB', 'runs', 'shared', 'shared')
    const [, first = ''] = await here.ask('GRAB_JOB')
    const [, second = ''] = await here.ask('GRAB_JOB')
    expect(second).toBe(shared)
    for (const fn of ['waits', 'waits', 'waits']) await gone.submit('SUBMIT_JOB', fn, '', '')
    const background = await gone.submit('SUBMIT_JOB_BG', 'waits', '', '')
    await doomed.kill()
    await vi.waitFor(async () => {
      // Empty: the last client has left.
      const left = await Promise.all([waits('runs', 1), waits('waits', 1), waits('waits', 3)])
      expect(left).toEqual(['', '', ''])
    }, soon)
    here.send('WORK_COMPLETE', first, 'out').send('WORK_COMPLETE', second, 'out')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', shared, 'out'])
    await here.sync()
    const ran = ['job:runs:1', 'job:runs:2']
    for (const key of ran) {
      const seconds = await fleet.redis.ttl(key)
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThanOrEqual(60)
    }
    const later = await fleet.first.peer('waits')
    expect((await later.ask('GRAB_JOB')).slice(0, 2)).toEqual(['JOB_ASSIGN', background])
    expect(await later.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    later.send('WORK_COMPLETE', background, '')
    await later.sync()
    expect((await fleet.redis.keys('job:*')).sort()).toEqual(ran)
  })

  test('counts as a lost worker for the jobs that its workers held', async () => {
    const client = await fleet.first.peer()
    const handle = await client.submit('SUBMIT_JOB', 'kills', '', 'x')
    for (const isLast of [false, true]) {
      const doomed = await another()
      const holder = await doomed.peer('kills')
      expect((await holder.ask('GRAB_JOB')).slice(0, 2)).toEqual(['JOB_ASSIGN', handle])
      await doomed.kill()
      if (isLast) break
      await vi.waitFor(async () => {
        expect(await fleet.redis.hget('job:kills:1', 'losses')).toBe('1')
      }, soon)
    }
    expect(await client.receive()).toEqual(['WORK_FAIL', handle])
    expect(await (await fleet.first.peer()).list('show jobs')).toEqual([])
  })
})

describe.skipIf(lacksRedis || lacksCompiler)('gateways on a server whose date jumps', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-clock-'))
  const fleet = Fleet.ofSuite([], () => ({ preload: buildSteppingClock(folder) }))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  async function held(at: FleetNode, fn: string) {
    const client = await fleet.first.peer()
    const handle = await client.submit('SUBMIT_JOB', fn, '', 'x')
    const holder = await at.peer(fn)
    expect((await holder.ask('GRAB_JOB')).slice(0, 2)).toEqual(['JOB_ASSIGN', handle])
    return { client, holder, handle }
  }

  test('keep running: no held job runs twice', async () => {
    const other = await fleet.node()
    const { client, holder, handle } = await held(other, 'slow')
    const idle = await fleet.first.peer('slow')
    const beats = async (): Promise<string[]> =>
      fleet.redis.zrange('xg:nodes', '0', '-1', 'WITHSCORES')
    const seconds = async (): Promise<number> => Number((await fleet.redis.time())[0])
    const before = await seconds()
    process.kill(fleet.server.pid, 'SIGUSR2')
    await expect.poll(seconds).toBeGreaterThan(before + 15)
    // Each has beaten, and so looked at the other, five times more.
    for (let round = 0, last = await beats(); round < 5; round += 1) {
      await expect
        .poll(async () => (await beats()).filter((score, at) => at % 2 === 1 && last[at] === score))
        .toEqual([])
      last = await beats()
    }
    expect(await idle.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    holder.send('WORK_COMPLETE', handle, 'once')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'once'])
    await other.stop()
  })

  test('still detect that another was killed', async () => {
    const doomed = await fleet.node()
    const { client, handle } = await held(doomed, 'taken')
    await doomed.kill()
    process.kill(fleet.server.pid, 'SIGUSR2')
    const next = await fleet.first.peer('taken')
    await expect
      .poll(async () => (await next.ask('GRAB_JOB')).slice(0, 2), soon)
      .toEqual(['JOB_ASSIGN', handle])
    next.send('WORK_COMPLETE', handle, 'again')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'again'])
  })
})
