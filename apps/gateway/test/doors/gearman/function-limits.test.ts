import { functionLimit, type Throttle } from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import { describeGearman, type GearmanGateway } from './support/gearman-gateway.ts'

describeGearman('needs redis-server: a function with a limit', (gateways) => {
  /** Two gateways on one store, and so many background jobs of `mail`. */
  async function openTwo(
    limit: Throttle,
    jobs: number,
    lanes = ['mail'],
  ): Promise<readonly [GearmanGateway, GearmanGateway]> {
    const throttles = new Map([[functionLimit('mail'), limit]])
    const settings = { storeOptions: { throttles }, schedulerOptions: { throttles } }
    const [here, there] = [await gateways.open(settings), await gateways.open(settings)]
    const client = await here.peer()
    for (let at = 1; at <= jobs; at += 1) {
      await client.submit('SUBMIT_JOB_BG', lanes[at % lanes.length] ?? 'mail', '', String(at))
    }
    return [here, there]
  }

  test('runs so many jobs at a time over two gateways; the end of one wakes a worker at the other', async () => {
    const [here, there] = await openTwo({ concurrency: 2 }, 4)
    const [one, other, third] = [
      await here.worker('mail'),
      await there.worker('mail'),
      await there.worker('mail', 'other'),
    ]
    const [, handle = ''] = await one.ask('GRAB_JOB')
    expect((await other.ask('GRAB_JOB'))[3]).toBe('2')
    expect(await third.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    await third.send('PRE_SLEEP').sync()
    await one.send('WORK_COMPLETE', handle, 'done').sync()
    expect(await third.next()).toMatchObject({ name: 'NOOP' })
    expect((await third.ask('GRAB_JOB'))[3]).toBe('3')
    expect(await one.ask('GRAB_JOB')).toEqual(['NO_JOB'])
  })

  test('counts the jobs of all its queues, and wakes a worker of another queue', async () => {
    const [here, there] = await openTwo({ concurrency: 1 }, 2, ['mail', 'mail@bulk'])
    const [one, other] = [await here.worker('mail@bulk'), await there.worker('mail@default')]
    const [, handle = ''] = await one.ask('GRAB_JOB')
    expect(await other.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    await other.send('PRE_SLEEP').sync()
    await one.send('WORK_COMPLETE', handle, 'done').sync()
    expect(await other.next()).toMatchObject({ name: 'NOOP' })
    expect((await other.ask('GRAB_JOB'))[3]).toBe('2')
  })

  test('starts so many jobs in a time, and wakes a sleeping worker after it', async () => {
    const perMs = 400
    const [here] = await openTwo({ rate: { jobs: 2, perMs } }, 3)
    const worker = await here.worker('mail')
    const startMs = performance.now()
    for (let at = 1; at <= 2; at += 1) expect((await worker.ask('GRAB_JOB'))[0]).toBe('JOB_ASSIGN')
    let answer = await worker.ask('GRAB_JOB')
    expect(answer).toEqual(['NO_JOB'])
    // A worker that falls asleep is woken once for a job that may be new.
    for (let naps = 0; naps < 3 && answer[0] === 'NO_JOB'; naps += 1) {
      await worker.send('PRE_SLEEP').sync()
      expect(await worker.next()).toMatchObject({ name: 'NOOP' })
      answer = await worker.ask('GRAB_JOB')
    }
    expect(answer[3]).toBe('3')
    expect(performance.now() - startMs).toBeGreaterThan(perMs - 20)
  })
})
