import { expect, test, vi } from 'vitest'
import { describeGearman } from './support/gearman-gateway.ts'

describeGearman('needs redis-server: functions that take turns', ({ open }) => {
  const functions = Array.from({ length: 12 }, (_none, at) => `f${at}`)

  test.each([2, 8, 9, 12])(
    'of a worker with %i of them: the one whose job it got goes behind the others, and one named again before them',
    async (count) => {
      const gateway = await open({ roundRobin: true })
      const able = functions.slice(0, count)
      const [client, worker] = [await gateway.peer(), await gateway.worker(...able)]
      const waiting = new Map(able.map((fn, at) => [fn, 1 + (at % 3)]))
      for (const [fn, jobs] of waiting)
        for (let job = 0; job < jobs; job += 1) await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
      let order = able.toReversed()
      const got: string[] = []
      const expected: string[] = []
      for (
        let left = [...waiting.values()].reduce((sum, jobs) => sum + jobs, 0);
        left > 0;
        left--
      ) {
        if (left % 7 === 3) {
          worker.send('CANT_DO', 'f1').send('CAN_DO', 'f1').send('CAN_DO', 'f0')
          order = ['f0', 'f1', ...order.filter((fn) => fn !== 'f0' && fn !== 'f1')]
        }
        const next = order.find((fn) => (waiting.get(fn) ?? 0) > 0) ?? ''
        expected.push(next)
        waiting.set(next, (waiting.get(next) ?? 0) - 1)
        order = [...order.filter((fn) => fn !== next), next]
        const [, handle = '', fn = ''] = await worker.ask('GRAB_JOB')
        got.push(fn)
        worker.send('WORK_COMPLETE', handle, '')
      }
      expect(got).toEqual(expected)
      expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
      const shown = (await client.list('workers')).map((line) => line.split(' : ')[1])
      expect(shown).toContain(order.join(' '))
    },
  )

  test('of many a job costs no more than of few: nothing is made anew of what the worker named', async () => {
    const gateway = await open({ roundRobin: true })
    const made = vi.spyOn(gateway.scheduler, 'namedSubscription')
    const many = Array.from({ length: 500 }, (_none, at) => `many${at}`)
    const [client, worker] = [await gateway.peer(), await gateway.worker(...many)]
    await worker.sync()
    made.mockClear()
    for (const fn of many.slice(100, 130)) await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    for (let job = 0; job < 30; job += 1) {
      const [name, handle = ''] = await worker.ask('GRAB_JOB')
      expect(name).toBe('JOB_ASSIGN')
      worker.send('WORK_COMPLETE', handle, '')
    }
    expect(made.mock.calls.length).toBeLessThanOrEqual(1)
  })
})
