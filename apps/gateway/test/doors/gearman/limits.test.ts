import type { PacketName } from '@crossgear/gearman-codec'
import { expect, test } from 'vitest'
import { InputBudget } from '../../../src/doors/net/input-budget.ts'
import { describeGearman, type GatewayOptions } from './support/gearman-gateway.ts'

/** A request, the code of the ERROR packet, and the reason in the metrics. */
const refused: readonly (readonly [readonly [PacketName, ...string[]], string, string])[] = [
  [['SUBMIT_JOB_BG', 'f'.repeat(513), '', ''], 'ARGUMENT_TOO_LARGE', 'function_too_large'],
  [['SUBMIT_JOB_BG', '', '', ''], 'INVALID_FUNCTION_NAME', 'empty_function'],
  [['SUBMIT_JOB_BG', 'f', 'u'.repeat(65), ''], 'ARGUMENT_TOO_LARGE', 'unique_too_large'],
  [['SUBMIT_JOB_SCHED', 'f', '', '0', '0', '31', '2', '', ''], 'INVALID_ARGUMENT', 'never_due'],
  [['OPTION_REQ', 'nonsense'], 'UNKNOWN_OPTION', 'unknown_option'],
  [['NOOP'], 'INVALID_COMMAND', 'command_not_expected'],
  [['WORK_FAIL', 'H:nobody:1:1'], 'JOB_NOT_FOUND', 'result_without_job'],
]

describeGearman('needs redis-server: what is turned away', ({ open, redis }) => {
  test.each(refused)('%j is answered with %s and counted as %s', async (said, code, reason) => {
    const gateway = await open()
    const peer = await gateway.peer()
    expect((await peer.ask(...(said as ['OPTION_REQ', string]))).slice(0, 2)).toEqual([
      'ERROR',
      code,
    ])
    expect(gateway.rejections).toEqual([reason])
  })

  const tooMany = { maxFunctions: 1 }
  const noneMore = { laneQuota: { admits: (lane: string) => lane === 'mail' } }

  const unnamed: readonly (readonly [PacketName, readonly string[], string, GatewayOptions])[] = [
    ['CAN_DO', ['post'], 'too_many_functions', tooMany],
    ['CAN_DO_TIMEOUT', ['post', '1000'], 'too_many_functions', tooMany],
    ['CAN_DO', ['post'], 'new_function_limit', noneMore],
    ['CAN_DO_TIMEOUT', ['post', '1000'], 'new_function_limit', noneMore],
    ['CAN_DO', ['f'.repeat(513)], 'function_too_large', {}],
    ['CAN_DO_TIMEOUT', ['f'.repeat(513), '1000'], 'function_too_large', {}],
    ['CANT_DO', ['f'.repeat(513)], 'function_too_large', {}],
    ['CAN_DO', [''], 'empty_function', {}],
  ]
  test.each(unnamed)(
    '%s %j is counted as %s and gets no reply: the next one is that to the request for a job',
    async (name, args, reason, options) => {
      const gateway = await open(options)
      const worker = await gateway.worker('mail')
      const handle = await (await gateway.peer()).submit('SUBMIT_JOB_BG', 'mail', '', 'x')
      worker.send(name, ...args)
      expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'mail', 'x'])
      expect(gateway.rejections).toEqual([reason])
    },
  )

  test('a worker may name 4,000 functions, and gets the jobs of all', async () => {
    const gateway = await open()
    const functions = Array.from({ length: 4_000 }, (_none, at) => `f${at}`)
    const worker = await gateway.worker(...functions)
    const client = await gateway.peer()
    const inputs = ['f0', 'f1999', 'f3999']
    for (const fn of inputs) await client.submit('SUBMIT_JOB_BG', fn, '', fn)
    const done = [await worker.doNextJob(), await worker.doNextJob(), await worker.doNextJob()]
    expect([done, gateway.rejections]).toEqual([inputs.toReversed(), []])
  })

  test('a request for a job names no functions that are known to have none', async () => {
    const gateway = await open()
    const functions = Array.from({ length: 4_000 }, (_none, at) => `f${at}`)
    const worker = await gateway.worker(...functions)
    const client = await gateway.peer()
    const sent = async (): Promise<number> => {
      const [, bytes] = /total_net_input_bytes:(\d+)/.exec(await redis('INFO', 'stats')) ?? []
      return Number(bytes)
    }
    await client.submit('SUBMIT_JOB_BG', 'f7', '', 'first')
    expect(await worker.doNextJob()).toBe('first')
    // The gateway hears of all functions from now on.
    await expect
      .poll(async () =>
        Number(
          await redis('PUBSUB', 'NUMSUB', 'channel:f3999').then((text) => text.split(/\W/).at(-1)),
        ),
      )
      .toBe(1)
    await expect.poll(() => redis('GET', 'count:f3999')).toBe('1')
    const jobs = 20
    const sentForJobs = async (): Promise<number> => {
      for (let job = 0; job <= jobs; job += 1) await client.submit('SUBMIT_JOB_BG', 'f7', '', 'x')
      await worker.doNextJob()
      const before = await sent()
      for (let job = 0; job < jobs; job += 1) await worker.doNextJob()
      return (await sent()) - before
    }
    // Every ten seconds all functions are named once, as events may have been missed.
    await expect.poll(sentForJobs).toBeLessThan(jobs * 4_000)
  })

  test('functions take room while their workers are connected, beyond a few for each', async () => {
    const inputBudget = new InputBudget(60_000)
    const gateway = await open({ connectionLimits: { inputBudget } })
    const first = await gateway.peer()
    for (let n = 0; n < 40; n += 1) first.send('CAN_DO', `first-${n}`)
    await first.sync()
    expect(gateway.rejections).toContain('too_many_functions')
    const second = await gateway.worker('mail', 'post')
    await second.sync()
    first.socket.destroy()
    await expect.poll(() => inputBudget.hasRoomFor(50_000)).toBe(true)
    expect(new Set(gateway.rejections)).toEqual(new Set(['too_many_functions']))
  })

  test('a function that a worker no longer names takes no room', async () => {
    const inputBudget = new InputBudget(60_000)
    const gateway = await open({ connectionLimits: { inputBudget } })
    const worker = await gateway.peer()
    for (let n = 0; n < 100; n += 1) worker.send('CAN_DO', `f-${n}`).send('CANT_DO', `f-${n}`)
    await worker.sync()
    expect(gateway.rejections).toEqual([])
  })

  test('a job for a full queue is counted', async () => {
    const gateway = await open()
    const peer = await gateway.peer()
    await peer.submit('SUBMIT_JOB_BG', 'mail', '', '')
    await peer.command('maxqueue mail 1')
    expect((await peer.ask('SUBMIT_JOB_BG', 'mail', '', ''))[1]).toBe('QUEUE_ERROR')
    expect(gateway.rejections).toEqual(['queue_full'])
  })

  test('a peer that does not read its replies is not read from until it does, and that is counted', async () => {
    let heldBack = 0
    const gateway = await open({
      connectionLimits: { holdBackBytes: 100_000 },
      heldBack: () => (heldBack += 1),
    })
    const peer = await gateway.peer()
    peer.socket.pause()
    const data = 'x'.repeat(1_000_000)
    const count = 20
    for (let i = 0; i < count; i++) peer.send('ECHO_REQ', data)
    await expect.poll(() => heldBack).toBeGreaterThan(0)
    peer.socket.resume()
    for (let i = 0; i < count; i++) expect((await peer.receive())[1]).toHaveLength(data.length)
    expect(gateway.rejections).toEqual([])
  })

  test('a peer that reads nothing for too long is dropped and counted', async () => {
    const dropped: string[] = []
    const gateway = await open({
      connectionLimits: { holdBackBytes: 100_000, stallMs: 20 },
      dropped: (reason) => void dropped.push(reason),
    })
    const peer = await gateway.peer()
    const closed = new Promise((resolve) => peer.socket.once('close', resolve))
    peer.socket.on('error', () => undefined).pause()
    for (let i = 0; i < 20; i++) peer.send('ECHO_REQ', 'x'.repeat(1_000_000))
    await expect.poll(() => dropped).toEqual(['slow'])
    peer.socket.resume()
    await closed
  })
})
