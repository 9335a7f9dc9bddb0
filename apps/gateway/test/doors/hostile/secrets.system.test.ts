import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../faktory/support/fwp-client.ts'
import { ask } from '../http/support/http-client.ts'
import { gatewayOfTest } from '../../support/gateway-process.ts'
import { redisOfTest } from '../../support/redis-of-suite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const secrets = {
  store: 'store-secret-1',
  faktory: 'faktory-secret-2',
  operator: 'operator-secret-3',
  reader: 'reader-secret-4',
  wrong: 'wrong-secret-5',
  payload: 'payload-secret-6',
}

describe.skipIf(lacksRedis)('the log', () => {
  test('has no password and no payload, given or tried, at any level', async () => {
    const redis = await redisOfTest('--requirepass', secrets.store)
    const folder = await temporaryFolder()
    const file = (name: 'operator' | 'reader'): string => {
      writeFileSync(join(folder, name), `${secrets[name]}\n`, { mode: 0o600 })
      return join(folder, name)
    }
    const gateway = gatewayOfTest([
      'serve',
      '--log-level',
      'trace',
      '--gearman-port',
      '0',
      '--faktory-port',
      '0',
      '--web-port',
      '0',
      '--redis-url',
      `redis://:${secrets.store}@127.0.0.1:${redis.port}/0`,
      '--faktory-password',
      secrets.faktory,
      '--web-password',
      file('operator'),
      '--web-reader-password',
      file('reader'),
    ])
    const { port } = await gateway.ready

    const stranger = await FwpClient.connect(port('faktory'))
    await stranger.reply()
    const hello = { v: 2, pwdhash: secrets.wrong, wid: 'w' }
    expect(await stranger.ask(`HELLO ${JSON.stringify(hello)}`)).toContain('Invalid password')
    for (const password of [secrets.operator, secrets.reader, secrets.wrong]) {
      const headers = { Authorization: `Bearer ${password}` }
      const { status } = await ask(port('web'), '/api/v1/overview', { method: 'GET', headers })
      expect(status).toBe(password === secrets.wrong ? 401 : 200)
    }
    const headers = {
      Authorization: `Bearer ${secrets.operator}`,
      'Content-Type': 'application/json',
    }
    const job = { function: 'f', payload: { text: secrets.payload } }
    const made = await ask(port('web'), '/api/v1/jobs', { headers }, JSON.stringify(job))
    expect(made.status).toBeLessThan(300)
    await ask(port('web'), `/api/v1/nothing?password=${secrets.wrong}`, { method: 'GET' })
    const { stdout, stderr } = await gateway.end()
    expect(stdout).toContain('Ready.')
    for (const secret of Object.values(secrets)) expect(`${stdout}${stderr}`).not.toContain(secret)
  })
})
