import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { openOn } from '../options/composed-gateway.ts'
import { type ApiGateway, openApi } from '../api/support/api-gateway.ts'
import { startGateway } from '../support/gateway-process.ts'

let redis: RedisServer
const open = openOn(() => `unix://${redis.path}`)
const hasScript = spawnSync('script', ['--version']).status === 0

const urlOf = ({ port }: ApiGateway): string => `http://127.0.0.1:${port}`

describe.skipIf(lacksRedis)('the program', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis.stop())

  test('answers a health check with 0 where a gateway is, else with 1 and a reason', async () => {
    const api = await openApi(open)
    const [well, away] = await Promise.all([
      startGateway(['health'], { CROSSGEAR_URL: urlOf(api) }).exited,
      startGateway(['health'], { CROSSGEAR_WEB_PORT: '1' }).exited,
    ])
    expect([well.code, well.stderr]).toEqual([0, ''])
    expect([away.code, away.stdout]).toEqual([1, ''])
    expect(away.stderr).toMatch(/^No gateway answers at http:\/\/127\.0\.0\.1:1 [^\n]+\n$/)
  })

  test.skipIf(!hasScript)('top is drawn again on a terminal, and its keys work', async () => {
    const api = await openApi(open)
    const client = await api.gateway.peer()
    for (const fn of ['alpha', 'beta', 'beta']) await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    const line = [process.execPath, ...bundleWords(), 'top', '--interval', '1'].join(' ')
    const child = spawn('script', ['-qec', `stty cols 100 rows 20; ${line}`, '/dev/null'], {
      env: { PATH: process.env['PATH'], CROSSGEAR_URL: urlOf(api) },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill())
    const exited = once(child, 'exit')
    let shown = ''
    child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    /** The table as it was drawn last. */
    const frame = (): string => shown.split('\u001b[H').at(-1) ?? ''
    await expect.poll(frame, { timeout: 30_000 }).toMatch(/beta[^]*alpha[^]*q quit/)
    child.stdin.write('s')
    await expect.poll(frame).toContain('s sort (running)')
    child.stdin.write('/alp')
    await expect.poll(frame).toContain('/alp_')
    child.stdin.write('\r')
    await expect.poll(frame).toMatch(/^(?![^]*beta)[^]*alpha[^]*filter \(alp\)/)
    child.stdin.write('q')
    expect(await exited).toEqual([0, null])
    // The screen that was there before comes back.
    expect(shown).toContain('\u001b[?1049l')
  })
})
