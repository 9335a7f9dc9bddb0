import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleProgram } from '@crossgear/tools/bundled-program'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { sampleOf } from '@crossgear/tools/sample'
import { withRedisServer } from '@crossgear/tools/suites'
import { afterAll, describe, expect, test } from 'vitest'
import { main } from '../../src/conformance/main.ts'

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
const peer = (name: string): string => pathOf(`../../../../tools/peers/gearmonkey-${name}.sh`)

const clientArguments =
  '"$GEARMONKEY_FN" "$GEARMONKEY_PRIO" ${GEARMONKEY_ROLLCALL:+--rollcall} ' +
  '${GEARMONKEY_BLOCKING:+--blocking $GEARMONKEY_TIMEOUT} ' +
  '${GEARMONKEY_SCHEDULED:+--at $GEARMONKEY_SCHEDULED}'
const workerArguments = `"$GEARMONKEY_FN" sh -c 'read -r word; test "$word" != fail'`

/** A commit plays one in so many faults: each takes hundreds of processes of a shell. */
const partsByDay = 3

/**
 * A fault; for a client its case, the line of the peer that it changes, and the MUST that then
 * fails.
 */
const clientFaults = [
  ['an id of its own', 'high', 'redis INCR "uid:$fn"', 'echo 7', 'INCR uid:{FN}'],
  [
    'no status',
    'high',
    'status idle input',
    'input',
    'HMSET job:{FN}:{ID} status "idle" input "{INPUT}"',
  ],
  ['no event', 'high', 'create:$id', 'made:$id', 'PUBLISH channel:{FN} create:{ID}'],
  ['the wrong end', 'high', 'redis LPUSH', 'redis RPUSH', 'LPUSH queue:{FN}:high {ID}'],
  ['one queue for all', 'high', 'queue:$fn:$prio', 'queue:$fn:low', 'LPUSH queue:{FN}:high {ID}'],
  [
    'stripped whitespace',
    'high',
    'redis -x HMSET',
    "tr -d '[:space:]' | redis -x HMSET",
    'bytes of the input',
  ],
  ['no id told', 'high', 'echo "$id"', ':', 'the client returns the id that the server gave'],
  ['no roll call', 'rollcall', '[ -n "$rollcall" ]', 'false', 'the client raises an error'],
  ['no wait', 'blocking', 'reply=$(redis BRPOP', 'reply=$(echo', 'BRPOP lock:{FN}:{ID} '],
  [
    'a due time in ms',
    'scheduled',
    '"$at" "$id"',
    '"${at}000" "$id"',
    'ZADD queue:{FN}:scheduled ',
  ],
] as const

const workerFaults = [
  ['no start', 'start:$id', 'begin:$id', 'PUBLISH channel:{FN} start:{ID}'],
  ['no busy', 'status busy', 'state busy', 'HMSET job:{FN}:{ID} status "busy"'],
  ['one day only', '90000', '86400', 'EXPIRE job:{FN}:{ID} 90000'],
  ['no finish', 'finish:$id', 'end:$id', 'PUBLISH channel:{FN} finish:{ID}'],
  [
    'two finishes',
    'redis PUBLISH "channel:$fn" "finish:$id" >/dev/null',
    'for _ in 1 2; do redis PUBLISH "channel:$fn" "finish:$id" >/dev/null; done',
    'PUBLISH channel:{FN} finish:{ID} comes once',
  ],
  [
    'one space',
    'KEYS[1],  item[1]',
    'KEYS[1], item[1]',
    'the script has two spaces in { KEYS[1],  item[1] }',
  ],
  ['no lock', '"lock:$fn:$id" OK', '"locks:$fn:$id" OK', 'LPUSH lock:{FN}:{ID} OK'],
  ['a lock for ever', 'redis EXPIRE "lock:$fn:$id" 10', ':', 'EXPIRE lock:{FN}:{ID} 10'],
  ['success at any rate', 'status=error', ':', 'the status ends as error'],
  ['not counted', 'redis INCR "count:$fn"', ':', 'INCR count:{FN}'],
  ['counted for ever', 'redis DECR "count:$fn"', ':', 'DECR count:{FN}'],
  [
    'low before high',
    '"queue:$fn:high" "queue:$fn:normal" "queue:$fn:low" 1',
    '"queue:$fn:low" "queue:$fn:normal" "queue:$fn:high" 1',
    'BRPOP queue:{FN}:high queue:{FN}:normal queue:{FN}:low 1',
  ],
  [
    'a clock ahead',
    '$(date +%s)',
    '$(($(date +%s) + 4000))',
    'a job that is not due is left alone',
  ],
] as const

describe.skipIf(lacksRedis)('with redis-server, gearmonkey-conformance', () => {
  let redis: RedisServer
  let dir: string

  /** Words for a shell that run a program of the package: each case starts one. */
  let program: Record<'client' | 'worker', string>

  withRedisServer(async (server) => {
    redis = server
    dir = mkdtempSync(join(tmpdir(), 'xg-conformance-'))
    process.env['REDIS_CLI'] = `redis-cli -s ${redis.path}`
    const wordsOf = async (name: string): Promise<string> => {
      const file = pathOf(`./support/library-${name}.ts`)
      return `${process.execPath} ${await bundleProgram(file, dir)}`
    }
    program = { client: await wordsOf('client'), worker: await wordsOf('worker') }
  })

  afterAll(() => {
    delete process.env['REDIS_CLI']
    rmSync(dir, { recursive: true, force: true })
  })

  async function run(...argv: string[]): Promise<{ code: number; lines: string[] }> {
    const lines: string[] = []
    const common = ['--redis-url', redis.url, '--timeout-seconds', '3']
    const code = await main([...common, ...argv], (line) => lines.push(line))
    return { code, lines }
  }

  /** A shell peer with one line of it changed. */
  function faulty(name: string, fault: string, from: string, to: string): string {
    const text = readFileSync(peer(name), 'utf8')
    expect(text).toContain(from)
    const file = join(dir, `${name} ${fault}.sh`.replaceAll(' ', '-'))
    writeFileSync(file, text.replaceAll(from, to), { mode: 0o755 })
    return file
  }

  const failed = (lines: readonly string[]): string[] =>
    lines.filter((line) => line.startsWith('FAIL'))

  test('finds nothing wrong with the client of this package', async () => {
    const options = ['--timeout-seconds', '20', '--client-command', program.client]
    const { code, lines } = await run(...options)
    expect(failed(lines)).toEqual([])
    expect(code).toBe(0)
  })

  test.each([1, 16])('finds nothing wrong with a worker of %i jobs at once', async (max) => {
    const command = `GEARMONKEY_CONCURRENCY=${max} exec ${program.worker}`
    const options = ['--worker-command', command, '--fail-input', 'fail']
    const { code, lines } = await run(
      '--timeout-seconds',
      '20',
      '--worker-function',
      'library',
      ...options,
    )
    expect(failed(lines)).toEqual([])
    expect(code).toBe(0)
  })

  test('finds nothing wrong with the shell peers', async () => {
    const client = await run('--client-command', `${peer('client')} run ${clientArguments}`)
    expect(failed(client.lines)).toEqual([])
    const worker = await run(
      '--worker-function',
      'shell',
      '--fail-input',
      'fail',
      '--worker-command',
      `exec ${peer('worker')} ${workerArguments}`,
    )
    expect(failed(worker.lines)).toEqual([])
    expect(worker.lines.at(-1)).toMatch(/^\d+ passed, 0 failed, 0 skipped$/)
  })

  test.concurrent.each(sampleOf(clientFaults, partsByDay))(
    'finds a client with %s',
    async (fault, name, from, to, must) => {
      const command = `${faulty('client', fault, from, to)} run ${clientArguments}`
      const { code, lines } = await run('--cases', name, '--client-command', command)
      expect(code).toBe(1)
      expect(failed(lines).join('\n')).toContain(must)
    },
  )

  test('finds a client that pushes before it publishes', async () => {
    const text = readFileSync(peer('client'), 'utf8')
    const publish = '  redis PUBLISH "channel:$fn" "create:$id" >/dev/null\n'
    const file = join(dir, 'late.sh')
    const late = text.replace(publish, '').replace('  echo "$id"\n', `${publish}  echo "$id"\n`)
    writeFileSync(file, late, { mode: 0o755 })
    const { lines } = await run(
      '--cases',
      'high',
      '--client-command',
      `${file} run ${clientArguments}`,
    )
    expect(failed(lines)).toEqual([
      'FAIL  client, high: LPUSH queue:{FN}:high {ID} -- came before PUBLISH channel:{FN} create:{ID}',
    ])
  })

  test.concurrent.each(sampleOf(workerFaults, partsByDay))(
    'finds a worker with %s',
    async (fault, from, to, must) => {
      const command = `exec ${faulty('worker', fault, from, to)} ${workerArguments}`
      const fn = fault.replaceAll(' ', '-')
      const { code, lines } = await run(
        '--worker-function',
        fn,
        '--worker-command',
        command,
        '--fail-input',
        'fail',
      )
      expect(code).toBe(1)
      expect(failed(lines).join('\n')).toContain(must)
    },
  )

  test('watches a worker that was started by others', async () => {
    const { lines, code } = await run('--worker-function', 'nobody')
    expect(code).toBe(1)
    expect(failed(lines)).toEqual(['FAIL  worker: a worker polls for the function -- none does'])
  })

  test.each([
    [[], '--client-command or --worker-function'],
    [['--client-command', 'x', '--worker-function', 'y'], '--client-command or'],
    [['--client-command', 'x', '--cases', 'middle'], 'middle is none of'],
    [['--unknown'], '--unknown'],
    [['--client-command', 'x', '--timeout-seconds', 'soon'], 'not a positive number'],
    [['--client-command', 'x', '--redis-url', 'unix:///nowhere'], 'nowhere'],
  ])('refuses %j with exit code 2', async (argv, word) => {
    const { code, lines } = await run(...argv)
    expect(code).toBe(2)
    expect(lines.join('\n')).toContain(word)
  })

  test('prints its help', async () => {
    const { code, lines } = await run('--help')
    expect(code).toBe(0)
    expect(lines.join('\n')).toContain('GEARMONKEY_SCHEDULED')
  })
})
