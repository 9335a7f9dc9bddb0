import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { type ApiGateway, openApi } from '../web/api/support/api-gateway.ts'
import { openOnRedis } from '../config/options/composed-gateway.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { open, redis } = openOnRedis()

/** Commands that print something; those of a running gateway ask it. */
const commands = [
  '--help',
  '--version',
  'completion bash',
  'help jobs list',
  'migrate --help',
  'backup --help',
  'mirror --help',
  'gearmand --help',
  'doctor',
  'functions list',
  'jobs list',
  'jobs list --json',
  'queues list',
]

/** The end of a command, with the text of the stream that is not in the file. */
interface Ended {
  readonly status: number | null
  readonly said: string
}

describe.skipIf(lacksRedis)('a command whose output cannot be written', () => {
  let env: Record<string, string>

  async function gateway(jobs = 1): Promise<ApiGateway> {
    const api = await openApi(open)
    const client = await api.gateway.peer()
    for (let at = 0; at < jobs; at += 1) client.send('SUBMIT_JOB_BG', 'mail', '', 'x')
    await client.receiveMany(jobs)
    env = {
      PATH: process.env['PATH'] ?? '',
      CROSSGEAR_URL: `http://127.0.0.1:${api.port}`,
      CROSSGEAR_REDIS_URL: `unix://${redis().path}`,
    }
    return api
  }

  /** Runs it with one of its streams in this file. A shell may say first what the program may not. */
  async function into(
    path: string,
    words: readonly string[],
    { stream = 'stdout', limit = ':' }: { stream?: 'stdout' | 'stderr'; limit?: string } = {},
  ): Promise<Ended> {
    const fd = openSync(path, 'w')
    const stdio = stream === 'stdout' ? [fd, 'pipe'] : ['pipe', fd]
    const program = [process.execPath, ...bundleWords(), ...words]
    const child = spawn('sh', ['-c', `${limit}; exec "$0" "$@"`, ...program], {
      env,
      stdio: ['ignore', ...(stdio as [number, 'pipe'])],
    })
    closeSync(fd)
    let said = ''
    const other = stream === 'stdout' ? child.stderr : child.stdout
    other?.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [status] = (await once(child, 'close')) as [number | null]
    return { status, said }
  }

  /** Reads ten bytes of a command's output; returns its messages and its code. */
  async function readABit(words: string): Promise<string> {
    const program = [process.execPath, ...bundleWords()].join(' ')
    const line = `{ ${program} ${words}; echo "code $?" >&2; } | head -c 10`
    const child = spawn('sh', ['-c', line], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await once(child, 'close')
    return said
  }

  test('ends with 1 and one line, whatever the command', async () => {
    await gateway()
    const ends: unknown[] = []
    for (const line of commands) ends.push([line, await into('/dev/full', line.split(' '))])
    const said: unknown = expect.stringMatching(/^The output is not complete \(ENOSPC[^\n]*\)\.\n$/)
    expect(ends).toEqual(commands.map((line) => [line, { status: 1, said }]))
  })

  test('a backup whose log cannot be written is a good one', async () => {
    await gateway()
    const file = join(await temporaryFolder(), 'jobs.ndjson')
    const words = ['backup', '--redis-url', `unix://${redis().path}`, '--to', file]
    expect((await into('/dev/full', words, { stream: 'stderr' })).status).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('"mail"')
  })

  test('a backup to a pipe or a disk that takes no more is none', async () => {
    // More than a pipe holds: all of a short one may be written before its reader goes away.
    await gateway(1_000)
    const { status, said } = await into('/dev/full', ['backup', '--to', '-'])
    expect([status, said]).toEqual([1, expect.stringMatching(/^The output is not complete /)])
    expect(await readABit('backup --to -')).toBe('code 4\n')
  })

  test('a reader that has read enough ends it without a word', async () => {
    await gateway(50)
    expect(await readABit('jobs list --json')).toBe('code 0\n')
  })

  test('a list that is cut where its file may not grow ends with 1', async () => {
    const file = join(await temporaryFolder(), 'list')
    await gateway(100)
    // Blocks of 512 bytes: as on a full disk, a part of the list is written.
    const limit = 'ulimit -f 16'
    const { status, said } = await into(file, ['jobs', 'list', '--json'], { limit })
    expect([status, said]).toEqual([1, expect.stringMatching(/^The output is not complete /)])
    expect(statSync(file).size).toBe(16 * 512)
  })
})
