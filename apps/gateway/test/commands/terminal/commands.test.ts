import { createServer } from 'node:http'
import { freePort } from '@crossgear/tools/free-port'
import { expect, test } from 'vitest'
import { apiOnRedis, readerPassword } from '../../web/api/support/api-gateway.ts'
import { crossgear, operatorOf } from './support/terminal.ts'
import { gatewayOfTest } from '../../support/gateway-process.ts'
import { portOfTest } from '../../support/port-of-test.ts'

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })

const undoHint =
  'crossgear audit list names the deletion, and audit undo puts its jobs back within a day.\n'

/** Figures of a line of the functions. */
interface Figures {
  readonly lane: string
  readonly waiting: number
}

/** A gateway and the commands of its operator. */
async function opened() {
  const api = await openApi()
  return { api, ...operatorOf(api) }
}

describeApi('commands that ask a gateway', () => {
  test('jobs list shows the matching jobs, or says that there are none', async () => {
    const { api, run } = await opened()
    await api.deadJobs('dead-0001', 'dead-0002')
    const all = await run('jobs list')
    expect([all.code, all.stderr]).toEqual([0, ''])
    expect(all.stdout).toMatch(/^JOB +STATE +FUNCTION +QUEUE +DOOR +AGE +NOTE\n/)
    expect(all.stdout.trimEnd().split('\n')).toHaveLength(3)
    const one = await run('jobs list --state dead --text dead-0002 --json')
    expect(JSON.parse(one.stdout)).toMatchObject({ jid: 'dead-0002', state: 'dead' })
    const none = await run('jobs list --function none')
    expect(none).toEqual({ code: 4, stdout: '', stderr: 'No job matches (0 looked at).\n' })
    const some = await run('jobs list --limit 1')
    expect(some.stderr).toBe('There are more: --limit 1 was reached.\n')
  })

  test('queues alone lists them, and an unknown word is named', async () => {
    const { api, run } = await opened()
    await api.deadJobs('dead-0001')
    expect(await run('queues --json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"queue":"q"'),
    })
    const unknown = await run('queues lst')
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      'There is no command "queues lst": see crossgear queues --help.\n',
    ])
    const option = await run('jobs move --too bulk')
    expect([option.code, option.stderr]).toEqual([
      1,
      expect.stringMatching(/^Unknown option '--too'.*: see crossgear jobs move --help\.\n$/),
    ])
  })

  test('jobs show lists the attempts of a job that failed more than once, escaped', async () => {
    const { api, run } = await opened()
    const client = await api.deadJobs('dead-0001')
    expect((await run('jobs show dead-0001')).stdout).not.toContain('attempts')
    await run('jobs retry dead-0001 --yes')
    await client.ask('FETCH q')
    await client.ask('FAIL {"jid":"dead-0001","errtype":"E2","message":"\\u001b[31mred\\nmore"}')
    expect((await run('jobs show dead-0001')).stdout).toMatch(
      /^attempts\n {2}\S+Z {2}E: disk full dead-0001\n {2}\S+Z {2}E2: \\u001b\[31mred\n/m,
    )
  })

  test('jobs trace tells what happened to a job and what comes next, by any of its names', async () => {
    const { api, run } = await opened()
    const client = await api.deadJobs('dead-0001')
    const died = await run('jobs trace dead-0001')
    expect(died.stdout).toMatch(
      /^job (\S+), handle \S+, jid dead-0001, function f, queue q\n {2}\S+Z {2}came by faktory, level 5\n {2}\S+Z {2}failed: E: disk full dead-0001\n {2}\S+Z {2}is dead, and forgotten in \S+, at \S+: crossgear jobs retry \1 runs it again\n$/,
    )
    await run('jobs retry dead-0001 --yes')
    expect((await run('jobs trace dead-0001')).stdout).toMatch(
      /waits in queue q: (No worker|Next in line|Waits for a free worker)/,
    )
    await client.ask('FETCH q')
    expect((await run('jobs trace dead-0001')).stdout).toMatch(
      /runs at consumer \S+.*; its lease ends in \S+, at \S+Z\n$/,
    )
    await client.ask('ACK {"jid":"dead-0001"}')
    expect(await run('jobs trace dead-0001')).toEqual({
      code: 4,
      stdout: '',
      stderr: expect.stringMatching(/^No job is called dead-0001: it has ended and is not kept/),
    })
    const peer = await api.gateway.peer()
    await peer.submit('SUBMIT_JOB_BG', 'g', 'once-1', 'x')
    const [line, ...more] = (await run('jobs trace once-1 --json')).stdout.trimEnd().split('\n')
    expect(more).toEqual([])
    expect(JSON.parse(line ?? '')).toMatchObject({
      job: expect.stringContaining('unique id once-1'),
      events: [{ what: 'came by gearman, level 5' }, { what: expect.stringMatching(/^waits/) }],
    })
  })

  test('each command for a job takes its unique id, running or dead, and says where several have it', async () => {
    const { api, run } = await opened()
    const [client, worker] = [await api.gateway.peer(), await api.gateway.peer('f', 'g')]
    await client.submit('SUBMIT_JOB_BG', 'f', 'inv-1', 'x')
    const [, handle = ''] = await worker.ask('GRAB_JOB')
    expect((await run('jobs show inv-1')).stdout).toMatch(/^state +running$/m)
    expect(await run('jobs retry inv-1')).toMatchObject({
      stdout: expect.stringContaining('1 job not changed: it waits or runs already.') as string,
    })
    expect(await run('jobs delete inv-1')).toMatchObject({
      stdout: expect.stringContaining('1 job not changed: it runs: cancel it.') as string,
    })
    expect(await run('jobs resubmit inv-1')).toMatchObject({ code: 0 })
    worker.send('WORK_FAIL', handle)
    await worker.sync()
    expect((await run('jobs show inv-1')).stdout).toMatch(/^state +dead$/m)
    expect(await run('jobs retry inv-1 --dry-run')).toMatchObject({ code: 0 })
    expect(await run('jobs move inv-1 --to-queue other')).toMatchObject({
      stdout: '1 job moved (1 looked at).\n',
    })
    await client.submit('SUBMIT_JOB_BG', 'g', 'inv-1', 'x')
    for (const words of ['jobs show', 'jobs cancel', 'jobs resubmit', 'jobs delete']) {
      const { code, stdout, stderr } = await run(`${words} inv-1`)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^inv-1 is the unique id of several jobs \(\S+, \S+\): name one/)
    }
    expect(await run('jobs cancel --unique inv-1 --yes')).toMatchObject({
      stdout: expect.stringMatching(/^2 jobs cancelled/) as string,
    })
    expect(await run('jobs cancel inv-1')).toMatchObject({ code: 4 })
  })

  test('a name that begins with a hyphen comes after --, as the error says', async () => {
    const { api, run } = await opened()
    const client = await api.deadJobs('-Hx9-abcd')
    for (const words of ['jobs trace', 'jobs show', 'jobs retry', 'batches show']) {
      const { code, stderr } = await run(`${words} -Hx9-abcd`)
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(`crossgear ${words} -- -Hx9-abcd`),
      ])
    }
    expect((await run('jobs show -- -Hx9-abcd')).stdout).toMatch(/^jid +-Hx9-abcd$/m)
    expect(await run('jobs delete -- -Hx9-abcd')).toMatchObject({ code: 0 })
    const ids = await Promise.all(
      Array.from({ length: 65 }, () =>
        client.ask('BATCH NEW {"success":{"jobtype":"s","args":[]}}'),
      ),
    )
    expect(ids.filter((id) => !/^\S*b-[\w-]{16}$/m.test(id))).toEqual([])
  })

  test('jobs trace has the times of what happened: of death, rerun, move, wait and run, not of the question', async () => {
    const { api, run } = await opened()
    const client = await api.deadJobs('dead-0001')
    const linesOf = async (name: string): Promise<Record<string, number>> => {
      const { stdout } = await run(`jobs trace ${name} --json`)
      const { events } = JSON.parse(stdout) as { events: { at: string | null; what: string }[] }
      return Object.fromEntries(
        events.map(({ at, what }) => [
          what
            .split(/[ ,:;]/)
            .slice(0, 2)
            .join(' '),
          Date.parse(at ?? ''),
        ]),
      )
    }
    const first = await linesOf('dead-0001')
    expect(first['is dead'] ?? 0).toBeGreaterThanOrEqual(first['came by'] ?? Infinity)
    expect(first['is dead'] ?? 0).toBeLessThanOrEqual(Date.now())
    expect((await linesOf('dead-0001'))['is dead']).toBe(first['is dead'])
    await run('jobs retry dead-0001')
    const again = await linesOf('dead-0001')
    expect(again['put into'] ?? 0).toBeGreaterThanOrEqual(first['is dead'] ?? Infinity)
    expect(again['waits in'] ?? 0).toBeGreaterThanOrEqual(again['put into'] ?? Infinity)
    expect((await linesOf('dead-0001'))['waits in']).toBe(again['waits in'])
    await client.ask('FETCH q')
    const running = await linesOf('dead-0001')
    expect(running['runs at'] ?? 0).toBeGreaterThanOrEqual(again['waits in'] ?? Infinity)
    const later = (await linesOf('dead-0001'))['runs at'] ?? 0
    // Two clocks that tick by themselves.
    expect(Math.abs(later - (running['runs at'] ?? 0))).toBeLessThan(20)
    await client.push('kept-0001', { jobtype: 'k', queue: 'k', custom: { track: 1 } })
    await client.ask('FETCH k')
    await client.ask('ACK {"jid":"kept-0001"}')
    const kept = await linesOf('kept-0001')
    expect(kept['has succeeded'] ?? 0).toBeGreaterThanOrEqual(kept['came by'] ?? Infinity)
    expect((await linesOf('kept-0001'))['has succeeded']).toBe(kept['has succeeded'])
    const leaver = await api.gateway.peer()
    const handle = await leaver.submit('SUBMIT_JOB', 'g', '', 'x')
    expect((await run(`jobs trace ${handle}`)).stdout).toMatch(
      /waits in queue default: No worker\n/,
    )
    leaver.close()
    await expect
      .poll(async () => (await run(`jobs trace ${handle}`)).stdout)
      .toMatch(/waits in queue default: Its client has left: it is dropped when its turn comes/)
  })

  test('jobs show shows a job by any of its names, with control characters escaped', async () => {
    const { api, run } = await opened()
    const client = await api.gateway.peer()
    const payload = 'line\n\u001b[31mred\u202e'
    const handle = await client.submit('SUBMIT_JOB_BG', 'f', 'u\u001b[2J', payload)
    const shown = await run(`jobs show ${handle}`)
    expect(shown.code).toBe(0)
    expect(shown.stdout).toMatch(/^function +f$/m)
    expect(shown.stdout).toMatch(/^unique +u\\u001b\[2J$/m)
    expect(shown.stdout).toContain('  line\n  \\u001b[31mred\\u202e\n')
    const hex = await run(`jobs show ${handle} --payload hex --max-payload-bytes 4 --json`)
    expect(JSON.parse(hex.stdout)).toMatchObject({ payload: { value: '6c696e65', is_cut: true } })
    expect(await run('jobs show 1-999')).toMatchObject({ code: 4, stdout: '' })
  })

  test('an act on all matching jobs counts first, asks, and does nothing without a yes', async () => {
    const { api, run } = await opened()
    const client = await api.deadJobs('dead-0001', 'dead-0002', 'dead-0003')
    const act = 'jobs retry --state dead --text disk'
    const dry = await run(`${act} --dry-run`)
    expect(dry).toMatchObject({ code: 0, stdout: '3 jobs would be retried (3 looked at).\n' })
    const unasked = await run(act)
    expect([unasked.code, unasked.stdout]).toEqual([1, ''])
    expect(unasked.stderr).toMatch(/^3 jobs match: retry them\? .*--yes.*\n$/)
    expect(await run(act, { typed: 'n\n' })).toMatchObject({ code: 6, stdout: '' })
    expect((await api.jobs('state=dead')).jobs).toHaveLength(3)
    const one = await run(`jobs retry --text dead-0002`, { typed: 'y\n' })
    expect(one).toMatchObject({ code: 0, stdout: '1 job retried (3 looked at).\n' })
    expect(await client.ask('FETCH q')).toContain('"jid":"dead-0002"')
    const rest = await run(`${act} --yes --json`)
    expect(JSON.parse(rest.stdout)).toMatchObject({ done: 2, dry_run: false, skipped: [] })
    expect(await run(`${act} --yes`)).toMatchObject({ code: 4 })
  })

  test('an act on many jobs shows at the terminal how far it is, while it counts and after the yes', async () => {
    const { api, run } = await opened()
    const faktory = await api.gateway.faktory({})
    const jobs = Array.from({ length: 1_001 }, (_none, at) => ({
      jid: `many-job-${at}`,
      jobtype: 'many',
      queue: 'q',
      args: [],
    }))
    await faktory.ask(`PUSHB ${JSON.stringify(jobs)}`)
    const { code, stdout, stderr } = await run('jobs delete --queue q', { typed: 'y\n' })
    expect([code, stdout]).toEqual([0, `1001 jobs deleted (1001 looked at).\n${undoHint}`])
    expect(stderr.split('\r\u001b[K')).toEqual([
      '',
      '1000 jobs match so far (1000 looked at)',
      expect.stringContaining('1001 jobs match: delete them? [y/N] '),
      '1000 jobs deleted so far (1000 looked at)',
      '',
    ])
  })

  test('named jobs need no confirmation, and skipped jobs are listed', async () => {
    const { api, run } = await opened()
    await api.deadJobs('dead-0001', 'dead-0002')
    const done = await run('jobs delete dead-0001 none-0001')
    expect(done).toMatchObject({
      code: 0,
      stdout: `1 job deleted (2 looked at).\n1 job not changed: it has ended or is unknown.\n${undoHint}`,
    })
    expect(await run('jobs cancel dead-0002')).toMatchObject({
      code: 4,
      stdout: '0 jobs cancelled (1 looked at).\n1 job not changed: it is dead: delete it.\n',
    })
    expect(await run('jobs delete none-0001 none-0002')).toMatchObject({
      code: 4,
      stdout: expect.stringContaining(
        '2 jobs not changed: each has ended or is unknown.',
      ) as unknown,
    })
    for (const words of ['jobs delete', 'jobs delete dead-0002 --all']) {
      expect(await run(words)).toMatchObject({
        code: 1,
        stderr: 'Say in one way which jobs: name them, or give options that say which, or --all.\n',
      })
    }
    expect(await run('jobs move dead-0002')).toMatchObject({ code: 1 })
    expect(await run('jobs move dead-0002 --to-queue other')).toMatchObject({ code: 0 })
    expect((await api.jobs('queue=other')).jobs.map(({ state }) => state)).toEqual(['waiting'])
  })

  test('a job is submitted with its payload, and once more with another', async () => {
    const { api, run } = await opened()
    const made = await run('jobs submit f hello --level 8 --unique u --json')
    const { job } = JSON.parse(made.stdout) as { job: string }
    expect(await run('jobs submit f --unique u')).toMatchObject({
      stdout: expect.stringMatching(/^Joined job /) as string,
    })
    const worker = await api.gateway.peer('f')
    expect((await worker.ask('GRAB_JOB')).at(-1)).toBe('hello')
    expect(await run(`jobs resubmit ${job} again`)).toMatchObject({ code: 0 })
    expect((await worker.ask('GRAB_JOB')).at(-1)).toBe('again')
    expect(await run('jobs submit f x --payload-file /no/such')).toMatchObject({ code: 1 })
    expect(await run('jobs submit f --payload-file /no/such')).toMatchObject({ code: 1 })
    expect(await run('jobs submit f --payload-file /etc/hostname')).toMatchObject({ code: 0 })
  })

  test('queues and functions are listed, paused, opened and closed, with effect on consumers', async () => {
    const { api, run } = await opened()
    expect(await run('queues list')).toMatchObject({ code: 4, stdout: '' })
    const consumer = await api.gateway.consumer()
    await consumer.push('wait-0001', { jobtype: 'f', queue: 'q' })
    expect(await run('queues pause q')).toMatchObject({ code: 0, stdout: 'q: paused.\n' })
    expect(await consumer.ask('FETCH q')).toBe('$-1')
    await expect
      .poll(async () => (await run('queues list')).stdout)
      .toMatch(/^q +1 +1 +0 .* Queue q is paused by an operator since \S+Z$/m)
    await run('queues resume q')
    const doubt = 'stok: paused. No job has come to it so far: is the name right?\n'
    expect(await run('queues pause stok')).toMatchObject({ code: 0, stdout: doubt })
    expect((await run('queues list')).stdout).toMatch(/^stok +0 +0 +0 .* Queue stok is paused by /m)
    await run('queues resume stok')
    expect((await run('queues list')).stdout).not.toContain('stok')
    expect(await consumer.ask('FETCH q')).toContain('wait-0001')
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '[1]')
    expect(await run('functions close mail')).toMatchObject({
      stdout: 'mail: closed to Faktory consumers until it is opened.\n',
    })
    expect(await consumer.ask('FETCH default')).toBe('$-1')
    await run('functions open mail unseen')
    expect(await consumer.ask('FETCH default')).toContain('"jobtype":"mail"')
    await expect
      .poll(async () => (await run('functions list mail unseen')).stdout)
      .toMatch(/^mail .* open\nunseen .* open$/m)
    expect(await run('functions list none')).toMatchObject({ code: 4, stdout: '' })
  })

  test('functions show tells workers, openness, pause and limits, as the page for whoever is paged says', async () => {
    const { api, run } = await opened()
    const [client, worker] = [await api.gateway.peer(), await api.gateway.peer('mail')]
    await worker.sync()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const consumer = await api.gateway.consumer()
    await consumer.push('wait-0001', { jobtype: 'mail', queue: 'bulk' })
    await run('functions pause mail')
    await run('queues pause bulk')
    const shown = async (): Promise<string> => (await run('functions show mail')).stdout
    await expect.poll(shown).toMatch(/^workers +\d {2}0 of 1 busy by gearman$/m)
    await expect.poll(shown).toMatch(/WORKERS +TO CONSUMERS +WAITS FOR\n/)
    expect(await shown()).toMatch(
      /^mail +default .* closed by workers +Paused by an operator since /m,
    )
    expect(await shown()).toMatch(/^mail +bulk .* open +Paused by an operator since /m)
    expect(await shown()).toMatch(
      /^waits for +Paused by an operator since \S+Z: crossgear functions resume mail$/m,
    )
    await run('functions close mail@bulk')
    await expect.poll(shown).toMatch(/^mail +bulk .* closed +/m)
    await client.submit('SUBMIT_JOB_BG', 'idle', '', 'x')
    await expect
      .poll(async () => (await run('functions show idle')).stdout)
      .toMatch(/^workers +none: its jobs wait$/m)
  })

  test('a function is emptied and dropped, not while it has workers, and one of its lanes alone', async () => {
    const { api, run } = await opened()
    const [client, worker] = [await api.gateway.peer(), await api.gateway.peer('busy')]
    await worker.sync()
    const submit = (fn: string) => client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    for (const fn of ['busy', 'mail', 'mail', 'mail@bulk', 'mail@bulk']) await submit(fn)
    const standing = async (): Promise<Record<string, number>> => {
      const { stdout } = await run('functions list --json')
      const rows = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Figures)
      return Object.fromEntries(rows.map(({ lane, waiting }) => [lane, waiting]))
    }
    await expect.poll(standing).toEqual({ busy: 1, mail: 2, 'mail@bulk': 2 })
    const refused = await run('functions drop busy --yes')
    expect([refused.code, refused.stdout]).toEqual([5, ''])
    expect(refused.stderr).toMatch(/^busy has workers or running jobs: .* Nothing was changed\.\n$/)
    expect(await run('functions empty mail@bulk')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Delete 2 jobs of the function mail@bulk\?/) as string,
    })
    expect(await run('functions empty mail@bulk --yes')).toMatchObject({ code: 0 })
    await expect.poll(standing).toEqual({ busy: 1, mail: 2, 'mail@bulk': 0 })
    const dropped = await run('functions drop mail --yes')
    expect([dropped.code, dropped.stdout.split('\n').slice(-2)]).toEqual([
      0,
      ['mail: dropped.', ''],
    ])
    await expect.poll(standing).toEqual({ busy: 1 })
    for (const verb of ['empty', 'drop']) {
      expect(await run(`functions ${verb} nope --yes`)).toMatchObject({
        code: 4,
        stderr: 'No function is called nope.\n',
      })
    }
  })

  test('a gateway that waits for its store is no foreign port: the commands say why it is not ready', async () => {
    const port = await freePort()
    const words = ['serve', '--gearman-port', 'off', '--faktory-port', 'off']
    const gateway = gatewayOfTest([
      ...words,
      '--web-port',
      String(port),
      '--redis-url',
      'redis://127.0.0.1:1',
    ])
    await gateway.said(/Waiting for it/)
    const url = `http://127.0.0.1:${port}`
    for (const command of ['top', 'jobs list', 'queues', 'functions show f']) {
      const asked = () => crossgear([...command.split(' '), '--url', url])
      await expect.poll(asked).toMatchObject({
        code: 5,
        stdout: '',
        stderr: expect.stringMatching(
          /^The gateway at \S+ is not ready: The store at redis:\/\/127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)[^\n]*\n$/,
        ) as string,
      })
    }
  })

  test('workers, nodes and the figures for an autoscaler are shown', async () => {
    const { api, run } = await opened()
    expect(await run('workers')).toMatchObject({ code: 4 })
    const worker = await api.gateway.peer('mail')
    await worker.sync()
    const shown = await run('workers')
    expect(shown.stdout).toMatch(/^mail +gearman +[01] +[01]$/m)
    const { stdout } = await run('nodes --json')
    expect(JSON.parse(stdout)).toMatchObject({ is_this: true })
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    await expect
      .poll(async () => (await run('scale mail')).stdout)
      .toMatch(/^waiting 1 {2}running 0 /)
    expect(await run('scale none')).toMatchObject({ code: 4, stdout: '' })
  })

  test('a refusal gives advice and an exit code of its own', async () => {
    const { env, run } = await opened()
    const { CROSSGEAR_URL } = env
    const act = ['jobs', 'delete', 'x-1']
    const anyone = await crossgear(act, { env: { CROSSGEAR_URL } })
    expect(anyone).toMatchObject({ code: 3, stdout: '' })
    expect(anyone.stderr).toContain('--web-password')
    const reader = ['--web-password', readerPassword, '--url', CROSSGEAR_URL]
    expect((await crossgear([...act, ...reader])).code).toBe(3)
    expect(await crossgear([...act, '--web-password', 'wrong'], { env })).toMatchObject({ code: 3 })
    // Reads from this machine need none.
    expect(await crossgear(['nodes'], { env: { CROSSGEAR_URL } })).toMatchObject({ code: 0 })
    const guardless = await openApi({})
    const url = `http://127.0.0.1:${guardless.port}`
    const { code, stderr } = await crossgear([...act, '--url', url])
    expect([code, stderr.split('\n').length]).toEqual([3, 2])
    expect(stderr).toContain('start it with --web-password')
    expect(await run('jobs list --state asleep')).toMatchObject({ code: 1, stdout: '' })
    expect(await run('jobs frobnicate')).toMatchObject({ code: 1 })
    expect(await run('jobs')).toMatchObject({ code: 1 })
    expect((await run('jobs list --limit x')).stderr).toMatch(/^Option .*whole number.*\n$/)
  })

  test('no gateway at the address has its own exit code, and health exits with 1', async () => {
    const { api, run } = await opened()
    expect(await run('health')).toMatchObject({ code: 0, stderr: '' })
    await api.close()
    const away = await run('jobs list')
    expect(away).toMatchObject({ code: 2, stdout: '' })
    expect(away.stderr).toMatch(/connection refused.*--url or CROSSGEAR_URL/)
    expect(await run('health')).toMatchObject({ code: 1, stdout: '' })
    const other = createServer(({ url }, response) => {
      if (url?.includes('/nodes')) response.end('hello')
      else response.writeHead(500).end('{"error":"internal error"}')
    })
    const url = `http://127.0.0.1:${await portOfTest(other)}`
    for (const command of ['nodes', 'queues']) {
      expect(await crossgear([command, '--url', url])).toEqual({
        code: 2,
        stdout: '',
        stderr: `${url} is not the web port of a gateway: name it with --url or CROSSGEAR_URL.\n`,
      })
    }
    expect(await crossgear(['health', '--url', url])).toMatchObject({ code: 1 })
    expect(await crossgear(['nodes', '--url', 'ftp://x'])).toMatchObject({ code: 1 })
    expect(await crossgear(['nodes', '--url', 'http://u:p@x'])).toMatchObject({ code: 1 })
  })

  test('functions at a store that is away say which, and what to do', async () => {
    const at = (...words: string[]) => crossgear(['functions', 'list', ...words])
    expect(await at('--redis-url', 'redis://127.0.0.1:1')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^The store at redis:\/\/127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\): [^\n]+\n$/,
      ) as unknown,
    })
    expect(await at('--data-dir', '/no/such/folder')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^No store runs in \/no\/such\/folder: start /) as unknown,
    })
  })

  test('top prints rates, ages and workers by door once, sorted and filtered', async () => {
    const { api, run } = await opened()
    const client = await api.gateway.peer()
    const worker = await api.gateway.peer('mail')
    await worker.sync()
    for (const fn of ['mail', 'mail', 'slow', 'slow', 'slow']) {
      await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    }
    const printed = run('top')
    const [, handle = ''] = await worker.ask('GRAB_JOB')
    worker.send('WORK_COMPLETE', handle, '')
    await worker.sync()
    const { code, stdout } = await printed
    expect(code).toBe(0)
    expect(stdout).toMatch(/^FUNCTION +QUEUE +WAITING +RUNNING +WAITS FOR +RATE\/S +OLDEST /m)
    const rows = stdout.split('\n').filter((line) => /^(slow|mail) /.test(line))
    expect(rows.map((line) => line.split(/ +/)[0])).toEqual(['slow', 'mail'])
    expect(rows[1]).toMatch(/gearman [01]\/1$/)
    await run('functions pause mail')
    const narrow = async (): Promise<string> => (await run('top', { columns: 60 })).stdout
    await client.submit('SUBMIT_JOB_BG', 'mail@bulk', '', 'x')
    await expect.poll(narrow).toMatch(/^mail +default .* Paused/m)
    await expect.poll(narrow).toMatch(/^mail +bulk +1 /m)
    expect(await narrow()).toMatch(/^FUNCTION +QUEUE +WAITING +RUNNING +WAITS FOR/m)
    for (const line of (await narrow()).split('\n')) expect(line.length).toBeLessThanOrEqual(60)
    const filtered = await run('top --filter slo --sort function --json')
    expect(JSON.parse(filtered.stdout)).toMatchObject({ function: 'slow', waiting: 3 })
    expect(await run('top --filter none')).toMatchObject({ code: 4 })
  })
})
