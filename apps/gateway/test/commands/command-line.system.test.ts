import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { flagOf, optionNames } from '../../src/config/options.ts'
import { startGateway } from '../support/gateway-process.ts'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { portOfTest } from '../support/port-of-test.ts'

const webAlone = ['--gearman-port', 'off', '--faktory-port', 'off', '--store-port', '0']

describe.concurrent('the command line', () => {
  test.each([
    [['--gearman-port', 'abc'], '--gearman-port is "abc": give a port from 0 to 65535'],
    [
      ['serve', '--gearmn-port', '1'],
      "Unknown option '--gearmn-port' (Did you mean --gearman-port?)",
    ],
    [['--host'], "Option '--host <address>' argument missing: see crossgear --help."],
    [['--host', '*'], 'The Faktory port would be open to the network without a password'],
  ])('%j: one line, exit code 2', async (words, line) => {
    const { code, stdout, stderr } = await startGateway(words).exited
    expect(stderr).toContain(line)
    expect([code, stdout, stderr.split('\n').length]).toEqual([2, '', 2])
  })

  test.each(['doctor', 'jobs submit', 'migrate run', 'gearmand', 'serve'])(
    'help %s is the help of that command',
    async (command) => {
      const words = command.split(' ')
      const [asked, own] = await Promise.all([
        startGateway(['help', ...words]).exited,
        startGateway([...words, '--help']).exited,
      ])
      expect(asked).toEqual({ code: 0, stderr: '', stdout: own.stdout })
      expect(own.stdout).toMatch(/--(?!help)[a-z]/)
    },
  )

  test.each([
    ['frobnicate', 1, 'There is no such command or argument (frobnicate): see crossgear --help.'],
    [
      'serve --gearman-port 0 one --host ::1 two',
      1,
      'There is no such command or argument (one two): see crossgear --help.',
    ],
    ['help nope', 1, 'There is no such command or argument (nope): see crossgear --help.'],
    ['nope --help', 1, 'There is no such command or argument (nope): see crossgear --help.'],
    [
      '--processes 2',
      2,
      '--processes is gone: start several gateways on one store (docs/operate/several-gateways.md).',
    ],
    ['help jobs nope', 1, 'There is no command "jobs nope": see crossgear jobs --help.'],
    ['help queues nope', 1, 'There is no command "queues nope": see crossgear queues --help.'],
    ['help migrate nope', 1, 'There is no command "nope": see crossgear migrate --help.'],
  ])('%s: one line, exit code %i', async (words, expected, line) => {
    const { code, stdout, stderr } = await startGateway(words.split(' ')).exited
    expect([code, stdout, stderr]).toEqual([expected, '', `${line}\n`])
  })

  test('options of the API are in the help like all others', async () => {
    const { stdout } = await startGateway(['jobs', 'submit', '--help']).exited
    expect(stdout).toMatch(/--level <n> +Faktory priority \(default: 5\)\n/)
    expect(stdout).toMatch(/--delay-seconds <n> +delay until the job is due \(default: 0\)\n/)
  })

  test('--help shows every option of the default command, --version the version', async () => {
    const [help, version] = await Promise.all([
      startGateway(['--help']).exited,
      startGateway(['--version']).exited,
    ])
    expect([help.code, version.code]).toEqual([0, 0])
    const listed = help.stdout.match(/^ {2}(?:-\w, )?--[\w-]+/gm) ?? []
    const flags = [...optionNames.map(flagOf), '--version', '--help']
    expect(listed.map((line) => line.replace(/^.*?--/, '--')).sort()).toEqual(flags.sort())
    expect(help.stdout).toContain('[routes.mail]')
    expect(version.stdout).toMatch(
      /^\d+\.\d+\.\d+ \(answers as gearmand 1\.1\.20 and Faktory 1\.10\.0\)\n$/,
    )
  })
})

describe('the help', () => {
  const help = (columns: number | undefined, options: string): string[] => {
    const line = [process.execPath, ...bundleWords(), options].join(' ')
    const words =
      columns === undefined
        ? (['sh', ['-c', line]] as const)
        : (['script', ['-qec', `stty cols ${columns}; ${line}`, '/dev/null']] as const)
    const { stdout } = spawnSync(words[0], words[1], { encoding: 'utf8' })
    return stdout.split(/\r?\n/)
  }

  test.each([
    [undefined, '--help'],
    [80, '--help'],
    [60, 'serve --help'],
    [undefined, 'gearmand --help'],
    [100, 'gearmand --help'],
  ])('on a terminal of %j columns (none: a pipe) is no wider: %s', (columns, words) => {
    const lines = help(columns, words)
    // The text below the options is laid out for 80 columns, and a URL is not broken.
    const end = lines.findIndex((line) => line.startsWith('Every option can'))
    const options = lines.slice(0, end < 0 ? undefined : end)
    expect(lines.length).toBeGreaterThan(40)
    const wide = options.filter((line) => line.length > (columns ?? 80))
    expect(wide.filter((line) => !/^ *\S+$/.test(line))).toEqual([])
    expect(lines.filter((line) => line.length > Math.max(columns ?? 80, 80))).toEqual([])
  })
})

describe('a gateway', () => {
  test('whose port another program has: one line, exit code 1, and its store ends', async () => {
    const port = await portOfTest(createServer())
    const folder = await temporaryFolder()
    const words = [...webAlone, '--web-port', String(port), '--data-dir', folder]
    const { code, stdout, stderr } = await startGateway(words).exited
    expect(existsSync(join(folder, 'store.password'))).toBe(true)
    const asking = connect(join(folder, 'store.sock'))
    await expect(once(asking, 'connect')).rejects.toThrow(/ENOENT|ECONNREFUSED/)
    expect(stdout).toBe('')
    expect(stderr).toBe(
      `Port ${port} on 127.0.0.1 is in use: stop the other program or choose another with --web-port.\n`,
    )
    expect(code).toBe(1)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'that gets %s twice at once stops with 0',
    async (signal) => {
      const words = [...webAlone, '--web-port', '0', '--data-dir', await temporaryFolder()]
      const gateway = startGateway(words)
      const { doors } = await gateway.ready
      const answer = await fetch(`http://127.0.0.1:${doors[0]!.port}/readyz`)
      expect(answer.status).toBe(200)
      gateway.child.kill(signal)
      const { code, stdout, stderr } = await gateway.end(signal)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout.trimEnd().split('\n').at(-1)).toContain('"msg":"Stopped."')
    },
  )

  test('logs only JSON lines to a program, on the embedded store too', async () => {
    const words = [...webAlone, '--web-port', '0', '--data-dir', await temporaryFolder()]
    const gateway = startGateway(words, { PATH: '' })
    expect((await gateway.ready).store.kind).toBe('embedded')
    const { code, stdout, stderr } = await gateway.end()
    const messages = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg.split(' ')[0])
    expect(messages).toEqual(['No', 'Ready.', 'Stopping', 'Stopped.'])
    expect([code, stderr]).toEqual([0, ''])
  })
})
