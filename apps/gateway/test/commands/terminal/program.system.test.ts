import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { lacks } from '@crossgear/tools/lacks'
import { expect, onTestFinished, test } from 'vitest'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { type ApiGateway, apiOnRedis } from '../../web/api/support/api-gateway.ts'
import { startGateway, wordsOn } from '../../support/gateway-process.ts'

const { describeApi, openApi, redis } = apiOnRedis()
const lacksScript = lacks('script', '--version')

const urlOf = ({ port }: ApiGateway): string => `http://127.0.0.1:${port}`

/** The program on a terminal of this size, whose name it prints first. */
function topOn(url: string, size: string, ...words: readonly string[]) {
  const line = [process.execPath, ...bundleWords(), 'top', '--interval', '1', ...words].join(' ')
  const child = spawn(
    'script',
    ['-qec', `stty ${size}; echo terminal $(tty); ${line}`, '/dev/null'],
    {
      env: { PATH: process.env['PATH'], CROSSGEAR_URL: url },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  onTestFinished(() => void child.kill())
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
  return {
    child,
    exited: once(child, 'exit'),
    text: () => shown,
    /** The table as it was drawn last. */
    frame: () => shown.split('\u001b[H').at(-1) ?? '',
  }
}

describeApi('the program', () => {
  test('answers a health check with 0 if a gateway runs, else with 1 and a reason', async () => {
    const api = await openApi()
    const [well, away] = await Promise.all([
      startGateway(['health'], { CROSSGEAR_URL: urlOf(api) }).exited,
      startGateway(['health'], { CROSSGEAR_WEB_PORT: '1' }).exited,
    ])
    expect([well.code, well.stderr]).toEqual([0, ''])
    expect([away.code, away.stdout]).toEqual([1, ''])
    expect(away.stderr).toMatch(/^No gateway answers at http:\/\/127\.0\.0\.1:1 [^\n]+\n$/)
  })

  test.skipIf(lacksScript)('top is drawn again on a terminal, and its keys work', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    for (const fn of ['alpha', 'beta', 'beta']) await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    const { child, exited, text, frame } = topOn(urlOf(api), 'cols 100 rows 20')
    await expect.poll(frame).toMatch(/beta[^]*alpha[^]*q quit/)
    child.stdin.write('s')
    await expect.poll(frame).toContain('s sort (running)')
    child.stdin.write('/alp')
    await expect.poll(frame).toContain('/alp_')
    child.stdin.write('\r')
    await expect.poll(frame).toMatch(/^(?![^]*beta)[^]*alpha[^]*filter \(alp\)/)
    child.stdin.write('q')
    expect(await exited).toEqual([0, null])
    // The screen that was there before comes back.
    expect(text()).toContain('\u001b[?1049l')
  })

  test.skipIf(lacksScript)(
    'top fills a terminal that becomes higher, and fits a low one',
    async () => {
      const api = await openApi()
      const client = await api.gateway.peer()
      const names = Array.from({ length: 12 }, (_none, at) => `low-${100 + at}`)
      for (const fn of names) await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
      const { child, exited, text, frame } = topOn(
        urlOf(api),
        'cols 100 rows 8',
        '--filter',
        'low-',
      )
      const rows = (): readonly string[] => frame().match(/low-1\d\d/g) ?? []
      await expect.poll(rows).toHaveLength(4)
      child.stdin.write('\u001b[6~\u001b[6~\u001b[6~')
      await expect.poll(rows).toContain(names.at(-1))
      const [, terminal = ''] = /terminal (\S+)/.exec(text()) ?? []
      const resize = (lines: number) => spawnSync('stty', ['-F', terminal, 'rows', String(lines)])
      resize(30)
      await expect.poll(() => new Set(rows()).size).toBe(names.length)
      resize(3)
      await expect.poll(() => frame().split('\r\n').length).toBe(3)
      child.stdin.write('q')
      expect(await exited).toEqual([0, null])
    },
  )

  test.skipIf(lacksScript)(
    'top asks a gateway with many functions only for the first ones',
    async () => {
      const api = await openApi()
      const client = await api.gateway.peer()
      const submitted = Array.from({ length: 1_100 }, (_none, at) =>
        client.submit('SUBMIT_JOB_BG', `many-${1000 + at}`, '', 'x'),
      )
      await Promise.all([...submitted, client.submit('SUBMIT_JOB_BG', 'many-2099', '', 'x')])
      const { child, exited, frame } = topOn(urlOf(api), 'cols 100 rows 8', '--filter', 'many-')
      await expect.poll(frame).toMatch(/functions 1000, 1000 of 1100 lines by waiting/)
      await expect.poll(frame).toMatch(/OLDEST[^]*?many-2099 +default +2 /)
      child.stdin.write('r')
      await expect.poll(frame).toMatch(/OLDEST[^]*?many-\d+ +default +1 /)
      // By queue, which the gateway does not sort by: all are asked for.
      child.stdin.write('\u001b[D')
      await expect.poll(frame).toMatch(/functions 1100 *[^,]*\r\n/)
      child.stdin.write('q')
      expect(await exited).toEqual([0, null])
    },
  )

  test.skipIf(lacksScript)(
    'top says that a gateway is silent and how old its figures are, and goes on when it does',
    async () => {
      const gateway = startGateway([...wordsOn(redis(), 'web'), '--web-password', 'sesame'])
      onTestFinished(() => void gateway.child.kill('SIGKILL'))
      const { port } = await gateway.ready
      const url = `http://127.0.0.1:${port('web')}`
      const submit = async (fn: string): Promise<void> => {
        const headers = { Authorization: 'Bearer sesame', 'Content-Type': 'application/json' }
        const body = JSON.stringify({ function: fn, payload: { text: 'x' } })
        const ask = () => fetch(`${url}/api/v1/jobs`, { method: 'POST', headers, body })
        // A gateway that was stopped has lost its store for a moment.
        await expect.poll(async () => (await ask()).status).toBe(201)
      }
      await submit('before')
      const { child, exited, frame } = topOn(url, 'cols 100 rows 20')
      await expect.poll(frame).toMatch(/before[^]*q quit/)
      gateway.child.kill('SIGSTOP')
      await expect
        .poll(frame)
        .toMatch(/before[^]*No answer from [^ ]+: these figures are \d+ s old/)
      gateway.child.kill('SIGCONT')
      await submit('after')
      await expect.poll(frame).toMatch(/after[^]*q quit/)
      gateway.child.kill('SIGSTOP')
      await expect.poll(frame).toContain('No answer from')
      child.stdin.write('q')
      expect(await exited).toEqual([0, null])
    },
  )
})
