import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lacks } from '@crossgear/tools/lacks'
import { expect, onTestFinished, test } from 'vitest'
import { GearmanPeer } from '../../gearman/support/gearman-peer.ts'
import { run, runWorker, type Output } from './run-program.ts'
import type { Stage } from './stage.ts'

const lacksGearman = lacks('gearman', '-H')

/** Every option of `gearman` and every switch of `gearadmin`. */
export function tools(stage: Stage): void {
  const at = (port: number): string[] => ['-h', '127.0.0.1', '-p', String(port)]
  const client = (args: readonly string[], input?: Buffer | string): Promise<Output> =>
    run('gearman', [...at(stage.bridge.clientPorts.gearman), ...args], input)
  const worker = (...args: readonly string[]) => {
    const started = runWorker([...at(stage.bridge.workerPorts.gearman), ...args])
    onTestFinished(async () => {
      started.child.kill('SIGKILL')
      await started.ended
    })
    return started
  }
  const admin = async (...args: readonly string[]): Promise<string> => {
    const { gearman } = stage.bridge.clientPorts
    const { out, err } = await run('gearadmin', [...at(gearman), ...args])
    return out.toString() + err
  }
  const peer = async (): Promise<GearmanPeer> => {
    const connected = await GearmanPeer.connect(stage.bridge.clientPorts.gearman)
    onTestFinished(() => connected.leave())
    return connected
  }
  const withTools = test.skipIf(lacksGearman)
  withTools('needs gearman-tools: gearman and gearadmin', () => expect(lacksGearman).toBe(false))

  withTools('gearman: a job from standard input, byte for byte', async () => {
    worker('-f', 'tool-cat', '--', 'cat')
    const data = randomBytes(5000)
    const { code, out } = await client(['-f', 'tool-cat'], data)
    expect(code).toBe(0)
    expect(out.equals(data)).toBe(true)
  })

  withTools.each([['-I'], ['-L'], []])('gearman %s: data as an argument', async (...flags) => {
    worker('-f', 'tool-argument', '--', 'cat')
    const { code, out } = await client([...flags, '-f', 'tool-argument', 'one', 'two'])
    expect({ code, out: out.toString() }).toEqual({ code: 0, out: 'onetwo' })
  })

  withTools('gearman -s: a job without data', async () => {
    worker('-f', 'tool-empty', '--', 'wc', '-c')
    const { code, out } = await client(['-s', '-f', 'tool-empty'])
    expect({ code, out: out.toString().trim() }).toEqual({ code: 0, out: '0' })
  })

  withTools('gearman -f -f -P: several functions, their names before the output', async () => {
    worker('-f', 'tool-one', '-f', 'tool-two', '--', 'cat')
    const { code, out } = await client(['-f', 'tool-one', '-f', 'tool-two', '-P', 'x'])
    expect({ code, out: out.toString() }).toEqual({ code: 0, out: 'tool-one: xtool-two: x' })
  })

  withTools.each([
    ['-n', 'x\ny\nz\n', 'x\ny\nz\n'],
    ['-N', 'x\ny\nz\n', 'xyz'],
  ])('gearman %s: a job for each line', async (flag, input, output) => {
    worker('-f', 'tool-lines', '--', 'cat')
    const { out } = await client([flag, '-f', 'tool-lines'], input)
    expect(out.toString()).toBe(output)
  })

  withTools.each([
    ['-n', 'AB\nAB\nCD\n'],
    ['-N', 'ABAB\nCD'],
  ])('gearman -w %s: data for each line of the result', async (flag, output) => {
    worker('-f', `tool-data${flag}`, flag, '--', 'tr', 'a-z', 'A-Z')
    const { out } = await client(['-f', `tool-data${flag}`], 'ab\ncd\n')
    expect(out.toString()).toBe(output)
  })

  withTools('gearman -w without a command writes what it was given', async () => {
    const { wrote } = worker('-f', 'tool-none')
    expect((await client(['-f', 'tool-none', 'same'])).code).toBe(0)
    expect((await wrote).toString()).toBe('same')
  })

  withTools('gearman: a command that fails is a job that failed', async () => {
    worker('-f', 'tool-bad', '--', 'false')
    const { code, err } = await client(['-f', 'tool-bad', 'x'])
    expect({ code, err }).toEqual({ code: 1, err: 'Job failed\n' })
  })

  withTools('gearman -c -b: a worker ends when it has done its count', async () => {
    for (const text of ['1', '2', '3']) {
      expect((await client(['-b', '-u', text, '-f', 'tool-count', text])).code).toBe(0)
    }
    await worker('-c', '2', '-f', 'tool-count', '--', 'cat').ended
    expect((await admin('--status')).split('\n')).toContain('tool-count\t1\t0\t0')
  })

  withTools('gearman -i: the worker has a file with its pid', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crossgear-pid-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'worker.pid')
    const { child } = worker('-i', file, '-f', 'tool-pid', '--', 'cat', file)
    const { out } = await client(['-f', 'tool-pid', 'x'])
    expect(out.toString().trim()).toBe(String(child.pid))
  })

  withTools('gearman -t: a client waits no longer than it was told', async () => {
    const { err } = await client(['-t', '200', '-f', 'tool-nobody', 'x'])
    expect(err).toContain('GEARMAN_TIMEOUT')
  })

  withTools('gearman -v -u: the handle is said, the unique id is kept', async () => {
    const { out, err } = await client(['-v', '-b', '-u', 'tool-id', '-f', 'tool-unique', 'x'])
    const [handle] = /H:\S+/.exec(out.toString() + err) ?? ['']
    expect(handle).not.toBe('')
    const asking = await peer()
    expect((await asking.ask('GET_STATUS', handle)).slice(0, 4)).toEqual([
      'STATUS_RES',
      handle,
      '1',
      '0',
    ])
    expect((await admin('--show-unique-jobs')).split('\n')).toContain('tool-id')
  })

  // The library of Debian is built without TLS: the option has no effect with any server.
  withTools('gearman -S and gearadmin -S speak as they do without', async () => {
    worker('-S', '-f', 'tool-tls', '--', 'cat')
    expect((await client(['-S', '-f', 'tool-tls', 'x'])).out.toString()).toBe('x')
    expect(await admin('-S', '--server-version')).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  withTools('gearadmin: the server about itself', async () => {
    expect(await admin('--server-version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(await admin('--server-verbose')).toMatch(/^[A-Z]+\n$/)
    expect(await admin('--getpid')).toMatch(/^\d+\n$/)
    expect(await admin('--help')).toContain('--show-jobs')
  })

  withTools('gearadmin: functions come and go', async () => {
    expect(await admin('--create-function', 'tool-made')).toBe('OK\n')
    expect((await admin('--status')).split('\n')).toContain('tool-made\t0\t0\t0')
    expect(await admin('--drop-function', 'tool-made')).toBe('OK\n')
    expect(await admin('--status')).not.toContain('tool-made')
    expect(await admin('--drop-function', 'tool-made')).toBe('Error: function not found\r\n')
  })

  withTools('gearadmin: queued jobs by priority, and one cancelled', async () => {
    const submitting = await peer()
    const submit = (name: 'SUBMIT_JOB_HIGH_BG' | 'SUBMIT_JOB_BG' | 'SUBMIT_JOB_LOW_BG') =>
      submitting.submit(name, 'tool-queue', `tool-${name}`, 'x')
    const handle = await submit('SUBMIT_JOB_HIGH_BG')
    await submit('SUBMIT_JOB_BG')
    await submit('SUBMIT_JOB_LOW_BG')
    expect((await admin('--status')).split('\n')).toContain('tool-queue\t3\t0\t0')
    expect((await admin('--priority-status')).split('\n')).toContain('tool-queue\t1\t1\t1\t0')
    expect((await admin('--show-jobs')).split('\n')).toContain(`${handle}\t0\t0\t1`)
    expect(await admin('--show-unique-jobs')).toContain('tool-SUBMIT_JOB_HIGH_BG\n')
    expect(await admin('--cancel-job', handle)).toBe('OK\n')
    expect(await admin('--cancel-job', handle)).toBe('Error: UNKNOWN_JOB\r\n')
    expect((await admin('--status')).split('\n')).toContain('tool-queue\t2\t0\t0')
  })

  withTools('gearadmin --workers: who is connected, and what each can do', async () => {
    const connected = await peer()
    await connected.send('SET_CLIENT_ID', 'tool-id').send('CAN_DO', 'tool-can').sync()
    const row = /^\d+ 127\.0\.0\.1 tool-id : tool-can$/m
    expect(await admin('--workers')).toMatch(row)
  })
}
