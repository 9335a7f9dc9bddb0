import { execFile } from 'node:child_process'
import { lacks } from '@crossgear/tools/lacks'
import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { gearmanGateways } from './support/gearman-gateway.ts'

const lacksGearman = lacks('gearman', '-H')

interface Output {
  readonly code: number
  readonly out: Buffer
}

function run(program: string, args: readonly string[], input = ''): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { encoding: 'buffer' }, (error, out) => {
      if (error && typeof error.code !== 'number') reject(new Error(program, { cause: error }))
      else resolve({ code: Number(error?.code ?? 0), out })
    })
    child.stdin?.end(input)
  })
}

describe.skipIf(lacksRedis || lacksGearman)('needs gearman-tools: the stock programs', () => {
  const { open } = gearmanGateways()

  test.each([
    [['-I'], 'high'],
    [[], 'normal'],
    [['-L'], 'low'],
  ] as const)('a background job with %j is queued at %s', async (flags, band) => {
    const gateway = await open()
    const args = ['-p', String(gateway.port), '-b', ...flags, '-f', 'later', 'data']
    expect((await run('gearman', args)).code).toBe(0)
    const [counts] = await gateway.scheduler.jobs.counts(['later'])
    expect(counts?.[band]).toBe(1)
    const worker = await gateway.worker('later')
    expect((await worker.ask('GRAB_JOB'))[3]).toBe('data')
  })

  test('a client of the program gets data, warnings and failures', async () => {
    const gateway = await open()
    const worker = await gateway.worker('talk')
    await worker.send('PRE_SLEEP').sync()
    const client = run('gearman', ['-p', String(gateway.port), '-f', 'talk', 'hello'])
    expect(await worker.receive()).toEqual(['NOOP'])
    const [, handle = '', , data] = await worker.ask('GRAB_JOB')
    expect(data).toBe('hello')
    worker.send('WORK_DATA', handle, 'one ').send('WORK_DATA', handle, 'two')
    worker.send('WORK_FAIL', handle)
    const { code, out } = await client
    expect(code).not.toBe(0)
    expect(out.toString()).toContain('one two')
  })
})
