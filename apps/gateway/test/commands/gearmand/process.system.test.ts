import { execFileSync, spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { ask } from '../../doors/http/support/http-client.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { portOf, startGearmand } from './support/gearmand-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { portOfTest } from '../../support/port-of-test.ts'

const lacksRoot = process.getuid?.() !== 0 && 'the user root'
const loud = ['-p', '0', '-l', 'stderr', '--verbose', 'INFO']

/** True if a new connection is accepted. */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return await new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

describe('crossgear gearmand', () => {
  test('--version and --help print and exit 0', async () => {
    const [version, help] = [startGearmand(['-V']), startGearmand(['--help'])]
    expect(await version.exited).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\ngearmand 1\.1\.20 - Crossgear \d+\.\d+\.\d+\n/),
      stderr: '',
    })
    const { code, stdout } = await help.exited
    expect([code, stdout.includes('-j [ --job-retries ] arg')]).toEqual([0, true])
  })

  test('--check-args starts nothing', async () => {
    const folder = await temporaryFolder()
    const pidFile = join(folder, 'pid')
    const { code, stdout, stderr } = await startGearmand(['--check-args', '-d', '-P', pidFile])
      .exited
    expect([code, stdout, stderr, existsSync(pidFile)]).toEqual([0, '', '', false])
  })

  test.each([
    [['--bogus'], "unrecognised option '--bogus'"],
    [['--config-file', '/no/such'], 'Could not open configuration file.'],
    [['@/no/such'], 'Could not open configuration file.'],
    [['-p', '0', '-P', '/no/such/pid', '-l', 'none'], 'Could not open pid file for writing'],
    [
      ['-u', 'no-such-user', '-l', 'none'],
      process.getuid?.() === 0
        ? 'Could not find user : no-such-user'
        : 'Must be root to switch users.',
    ],
    [['-d', '-q', 'bogus'], 'Error while initializing the queue : bogus'],
  ])('%j: one line, exit code 1', async (words, line) => {
    const { code, stdout, stderr } = await startGearmand(words).exited
    expect(stderr).toMatch(/^gearmand: [^\n]+\n$/)
    expect(stderr).toContain(line)
    expect([code, stdout]).toEqual([1, ''])
  })

  test('-d whose server does not start gives the reason, with exit code 1', async () => {
    const env = { CROSSGEAR_REDIS_URL: 'unix:///no/such.sock', CROSSGEAR_STORE_WAIT: '0' }
    const { code, stderr } = await startGearmand(['-d', '-p', '0', '-l', 'none'], { env }).exited
    expect(stderr).toMatch(
      /^gearmand: The store at unix:\/\/\/no\/such\.sock cannot be reached [^\n]+\n$/,
    )
    expect(code).toBe(1)
  })

  test.each(['gearmand', 'faktory'])(
    '%s is started by its shim in bin, in the same process',
    async (name) => {
      const folder = await temporaryFolder()
      const shim = fileURLToPath(new URL(`../../../bin/${name}`, import.meta.url))
      const link = join(folder, name)
      symlinkSync(shim, link)
      writeFileSync(join(folder, 'node'), '#!/bin/sh\necho "$$|$1|$2|$3|$4"\n', { mode: 0o755 })
      const env = { PATH: `${folder}:/usr/bin:/bin` }
      const { pid, stdout } = spawnSync(link, ['-p', 'two words'], { env, encoding: 'utf8' })
      const program = fileURLToPath(new URL('../../../bin/crossgear.js', import.meta.url))
      expect(stdout.trim().split('|')).toEqual([String(pid), program, name, '-p', 'two words'])
    },
  )
})

describe.skipIf(lacksRedis)('crossgear gearmand on a Redis', () => {
  const redis = redisOfSuite()
  let env: Record<string, string>
  beforeAll(() => {
    env = { CROSSGEAR_REDIS_URL: `unix://${redis().path}` }
  })

  const client = (port: number): Promise<GearmanPeer> => GearmanPeer.ofTest(port)

  test('answers without an environment, on a store of its own', async () => {
    const port = await freePort()
    const cwd = await temporaryFolder()
    const gearmand = startGearmand(['-p', String(port), '-l', 'stderr'], { cwd })
    await expect.poll(() => answers(port), { interval: 10 }).toBe(true)
    const peer = await client(port)
    expect(await peer.command('version')).toBe('OK 1.1.20')
    expect(await peer.command('getpid')).toBe(`OK ${gearmand.pid}`)
    expect(await peer.command('verbose')).toBe('OK ERROR')
    expect(existsSync(join(cwd, 'crossgear-data', 'appendonlydir'))).toBe(true)
    gearmand.kill('SIGTERM')
    expect(await gearmand.exited).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with 0 on %s and takes its pid file away',
    async (signal) => {
      const pidFile = join(await temporaryFolder(), 'pid')
      const gearmand = startGearmand([...loud, '-P', pidFile], { env })
      await portOf(gearmand)
      expect(readFileSync(pidFile, 'utf8')).toBe(`${gearmand.pid}\n`)
      gearmand.kill(signal)
      expect((await gearmand.exited).code).toBe(0)
      expect(existsSync(pidFile)).toBe(false)
    },
  )

  test('opens the HTTP door with -r http, and lists options without effect', async () => {
    const words = [...loud, '-r', 'http', '--http-port', '0', '-t', '4', '-q', 'redis']
    const gearmand = startGearmand(words, { env })
    const port = await portOf(gearmand, 'http')
    const headers = { 'X-Gearman-Background': 'true' }
    const answer = await fetch(`http://127.0.0.1:${port}/f`, { method: 'POST', headers })
    expect(answer.headers.get('x-gearman-command')).toBe('JOB_CREATED')
    // Clients of gearmand name the server as they like.
    const named = await ask(port, '/f', { headers: { ...headers, Host: 'jobs.internal' } })
    expect(named.status).toBe(200)
    await gearmand.said(/ NOTICE .* --threads has no effect: /)
    await gearmand.said(/ NOTICE .* --queue-type redis has no effect: jobs are persistent/)
  })

  test('takes its port from GEARMAND_PORT and its options from a file', async () => {
    const folder = await temporaryFolder()
    const file = join(folder, 'gearmand.conf')
    const port = await freePort()
    writeFileSync(file, 'verbose = INFO\n--log-file=stderr\n')
    const gearmand = startGearmand([`@${file}`], { env: { ...env, GEARMAND_PORT: String(port) } })
    expect(await portOf(gearmand)).toBe(port)
  })

  test('reports a port that is in use, with exit code 1', async () => {
    const port = await portOfTest(createServer(), '0.0.0.0')
    const words = ['-p', String(port), '-l', 'stderr']
    const { code, stderr } = await startGearmand(words, { env }).exited
    const line = `Port ${port} on * is in use: stop the other program or choose another with --port.`
    const [logged, said] = stderr.trimEnd().split('\n')
    expect(logged).toMatch(/^ +ERROR /)
    expect([logged?.endsWith(line), said, code]).toEqual([true, `gearmand: ${line}`, 1])
  })

  test('-d returns when the server answers; the server has a pid file and a log', async () => {
    const folder = await temporaryFolder()
    const [pidFile, logFile] = [join(folder, 'pid'), join(folder, 'log')]
    const port = await freePort()
    const words = ['-d', '-p', String(port), '-P', pidFile, '-l', logFile, '--verbose', 'INFO']
    const parent = startGearmand(words, { env })
    expect(await parent.exited).toEqual({ code: 0, stdout: '', stderr: '' })
    const pid = Number(readFileSync(pidFile, 'utf8'))
    expect(pid).not.toBe(parent.pid)
    const peer = await client(port)
    expect(await peer.command('getpid')).toBe(`OK ${pid}`)
    expect(readFileSync(logFile, 'utf8')).toContain(`Starting up with pid ${pid}`)
    const second = startGearmand(words, { env })
    expect((await second.exited).code).toBe(1)
    expect(readFileSync(pidFile, 'utf8')).toBe(`${pid}\n`)
    process.kill(pid, 'SIGTERM')
    await peer.ended()
    await expect.poll(() => existsSync(pidFile)).toBe(false)
  })

  test('-d with a log file that cannot be opened says so, and runs', async () => {
    const [port, pidFile] = [await freePort(), join(await temporaryFolder(), 'pid')]
    const words = ['-d', '-p', String(port), '-P', pidFile, '-l', '/no/such/folder/log']
    const { code, stderr } = await startGearmand(words, { env }).exited
    const pid = Number(readFileSync(pidFile, 'utf8'))
    onTestFinished(() => void process.kill(pid, 'SIGKILL'))
    expect(stderr).toMatch(/^gearmand: Could not open log file "\/no\/such\/folder\/log"[^\n]+\n$/)
    expect([code, await answers(port)]).toEqual([0, true])
  })

  test('opens its log again on HUP', async () => {
    const logFile = join(await temporaryFolder(), 'log')
    const port = await freePort()
    const words = ['-p', String(port), '-l', logFile, '--verbose', 'INFO']
    const gearmand = startGearmand(words, { env })
    await expect.poll(() => answers(port)).toBe(true)
    renameSync(logFile, `${logFile}.1`)
    gearmand.kill('SIGHUP')
    await expect
      .poll(() => existsSync(logFile) && readFileSync(logFile, 'utf8'))
      .toMatch(/^ NOTICE [\d-]+ [\d:.]+ \[ {2}main \] SIGHUP, reopening log file\n/)
  })

  test('on USR1 serves connected peers until no job is left, then ends with 0', async () => {
    const gearmand = startGearmand(loud, { env })
    const port = await portOf(gearmand)
    const [worker, boss] = [await client(port), await client(port)]
    worker.send('CAN_DO', 'usr1')
    await worker.sync()
    await boss.submit('SUBMIT_JOB_BG', 'usr1', '', 'in the queue')
    const handle = await boss.submit('SUBMIT_JOB_HIGH', 'usr1', '', 'running')
    const [, running = ''] = await worker.ask('GRAB_JOB')
    expect(running).toBe(handle)
    gearmand.kill('SIGUSR1')
    await expect.poll(() => answers(port)).toBe(false)
    worker.send('WORK_COMPLETE', running, 'done')
    expect(await boss.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
    const [assigned, queued = '', , data] = await worker.ask('GRAB_JOB')
    expect([assigned, data]).toEqual(['JOB_ASSIGN', 'in the queue'])
    worker.send('WORK_COMPLETE', queued, '')
    expect((await gearmand.exited).code).toBe(0)
  })

  test('on TERM ends a graceful end', async () => {
    const gearmand = startGearmand(loud, { env })
    const port = await portOf(gearmand)
    const worker = await client(port)
    await worker.submit('SUBMIT_JOB_BG', 'term', '', '')
    await worker.send('CAN_DO', 'term').ask('GRAB_JOB')
    gearmand.kill('SIGUSR1')
    await gearmand.said(/Stopping \(SIGUSR1\)/)
    gearmand.kill('SIGTERM')
    expect((await gearmand.exited).code).toBe(0)
  })

  test.skipIf(lacksRoot)(
    '-u with a folder of data that is not for that user says so, exit code 1',
    async () => {
      const dataDir = await temporaryFolder()
      const words = ['-p', '0', '-u', 'nobody', '-l', 'none']
      const gearmand = startGearmand(words, { env: { CROSSGEAR_DATA_DIR: dataDir } })
      const { code, stderr } = await gearmand.exited
      expect(stderr).toBe(
        `gearmand: The folder ${dataDir} cannot be used (EACCES): choose another with CROSSGEAR_DATA_DIR.\n`,
      )
      expect(code).toBe(1)
    },
  )

  test.skipIf(lacksRoot)('-u runs as that user, its store too', async () => {
    const id = (kind: string): number =>
      Number(execFileSync('/usr/bin/id', [kind, 'nobody'], { encoding: 'utf8' }))
    const cwd = await temporaryFolder()
    chownSync(cwd, id('-u'), id('-g'))
    const gearmand = startGearmand([...loud, '-u', 'nobody'], { cwd })
    const peer = await client(await portOf(gearmand))
    expect(await peer.command('getpid')).toBe(`OK ${gearmand.pid}`)
    const { uid, gid } = statSync(join(cwd, 'crossgear-data', 'store.log'))
    expect([uid, gid]).toEqual([id('-u'), id('-g')])
    gearmand.kill('SIGTERM')
    expect((await gearmand.exited).code).toBe(0)
  })
})
