import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
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

  test('a foreground job goes through both', async () => {
    const gateway = await open()
    const port = String(gateway.port)
    const worker = spawn('gearman', ['-p', port, '-w', '-f', 'wc', '-c', '1', '--', 'wc', '-c'])
    const ended = once(worker, 'exit')
    const { code, out } = await run('gearman', ['-p', port, '-f', 'wc'], 'five\n')
    expect({ code, out: out.toString().trim() }).toEqual({ code: 0, out: '5' })
    await ended
  })

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

  test('gearadmin reads and changes', async () => {
    const gateway = await open()
    const port = String(gateway.port)
    const admin = async (...args: string[]): Promise<string> =>
      (await run('gearadmin', ['-p', port, ...args])).out.toString()
    const client = await gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'mail', 'u1', '')
    expect(await admin('--server-version')).toContain('0.1.0')
    expect(await admin('--status')).toBe('mail\t1\t0\t0\n.\n')
    expect(await admin('--priority-status')).toBe('mail\t0\t1\t0\t0\n.\n')
    expect(await admin('--workers')).toMatch(/^\d+ 127\.0\.0\.1 - :\n/)
    expect(await admin('--show-jobs')).toContain(handle)
    expect(await admin('--show-unique-jobs')).toContain('u1')
    expect(await admin('--getpid')).toContain(String(process.pid))
    expect(await admin(`--cancel-job=${handle}`)).toContain('OK')
    expect(await admin('--create-function=fresh')).toContain('OK')
    expect(await admin('--status')).toContain('fresh\t0\t0\t0\n')
    expect(await admin('--drop-function=fresh')).toContain('OK')
  })
})
