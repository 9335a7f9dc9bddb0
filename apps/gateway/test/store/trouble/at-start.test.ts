import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../src/store/open-store.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { storeServer } from './support/store-server.ts'

/** Opens it as the gateway does at its start; what the log says. */
async function openOn(server: RedisServer, login = ''): Promise<readonly string[]> {
  const { log, lines } = recordingLog()
  const redisUrl = `redis://${login}127.0.0.1:${server.port}`
  await openStore({ redisUrl, dataDir: '', storePort: 'auto' }, log)
  return lines
}

describe.skipIf(lacksRedis)('a store that is unsuitable at the start, with redis-server:', () => {
  test.each([
    ['no', '', 'NOAUTH Authentication required.'],
    ['a wrong', ':wrong@', 'WRONGPASS invalid username-password pair or user is disabled.'],
  ])('%s password is reported with advice, and without the password', async (_how, login, said) => {
    const server = await storeServer('--requirepass', 'secret')
    const shown = login.replace('wrong', '***')
    await expect(openOn(server, login)).rejects.toThrow(
      `The store at redis://${shown}127.0.0.1:${server.port} answers "${said}": put the right user and password into --redis-url.`,
    )
    expect(await openOn(server, ':secret@')).toEqual([])
  })

  test('a server that evicts at its maxmemory is logged as a warning', async () => {
    const server = await storeServer('--maxmemory', '1gb', '--maxmemory-policy', 'allkeys-lru')
    expect(await openOn(server)).toEqual([
      "The store's maxmemory-policy is allkeys-lru: a full store drops jobs. Set it to noeviction.",
    ])
  })

  test.each([
    ['has no maxmemory', ['--maxmemory-policy', 'allkeys-lru']],
    ['refuses at its maxmemory', ['--maxmemory', '1gb']],
  ])('one that %s is not', async (_how, words) => {
    expect(await openOn(await storeServer(...words))).toEqual([])
  })
})
