import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { bearer, elsewhere, sent } from './support/api-gateway.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const redis = redisOfSuite()

async function gateway(words: readonly string[], env: Record<string, string> = {}) {
  const { port } = await gatewayOfTest([...wordsOn(redis(), 'web'), ...words], env).ready
  const ask = async (path: string, options: Parameters<typeof sent>[2] = {}) => {
    const { status, body, code } = await sent(port('web'), `/api/v1${path}`, options)
    return [status, code ?? (body as { role?: string }).role]
  }
  return { ask, port }
}

const entry = { schedule: '@daily', job: { type: 'f', args: [] } }

describe.skipIf(lacksRedis)('the options of the web port', () => {
  test('with --web-password, from a file, an operator may change', async () => {
    const file = join(await temporaryFolder(), 'password')
    await writeFile(file, 'sesame\n')
    const { ask, port } = await gateway(['--web-password', file])
    expect(await ask('/session', { headers: bearer('sesame') })).toEqual([200, 'operator'])
    expect(await ask('/session', { headers: elsewhere })).toEqual([200, null])
    const add = async (headers: Record<string, string>): Promise<number> =>
      (await sent(port('web'), '/cron', { method: 'POST', body: entry, headers })).status
    expect([await add({}), await add(bearer('sesame'))]).toEqual([403, 201])
  })

  test('with --web-reader-password, from the environment, a reader may read', async () => {
    const { ask, port } = await gateway([], { CROSSGEAR_WEB_READER_PASSWORD: 'look' })
    const headers = { ...elsewhere, ...bearer('look') }
    expect(await ask('/overview', { headers })).toEqual([200, undefined])
    expect(await ask('/overview', { headers: elsewhere })).toEqual([401, 'unauthorized'])
    expect((await sent(port('web'), '/cron', { headers: elsewhere })).status).toBe(401)
    expect((await sent(port('web'), '/busy', {})).status).toBe(200)
  })

  test('with --web-password-tries 1 wrong passwords are refused', async () => {
    const { ask } = await gateway(['--web-password', 'x', '--web-password-tries', '1'])
    const body = { password: 'y' }
    expect(await ask('/session', { method: 'POST', body })).toEqual([401, 'wrong_password'])
    expect(await ask('/session', { method: 'POST', body })).toEqual([429, 'too_many_tries'])
  })

  test('with --web-user-header, --web-role-header and --web-proxy-from, people of a proxy have its roles', async () => {
    const words = ['--web-user-header', 'X-User', '--web-role-header', 'X-Role']
    const [trusted, stranger] = await Promise.all([
      gateway([...words, '--web-proxy-from', '127.0.0.1']),
      gateway([...words, '--web-proxy-from', '192.0.2.0/24']),
    ])
    const headers = { ...elsewhere, 'X-User': 'alice', 'X-Role': 'operate' }
    expect(await trusted.ask('/session', { headers })).toEqual([200, 'operator'])
    expect(await stranger.ask('/session', { headers })).toEqual([200, null])
    const pause = { method: 'POST', body: { queues: ['mail'] } }
    expect(await trusted.ask('/queues/pause', { ...pause, headers })).toEqual([200, undefined])
    expect(await stranger.ask('/queues/pause', { ...pause, headers })).toEqual([
      401,
      'unauthorized',
    ])
  })
})
