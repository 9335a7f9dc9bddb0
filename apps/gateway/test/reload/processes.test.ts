import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { patience, startShared } from '../processes/support/shared-gateway.ts'
import { startGearmand } from '../gearmand/support/gearmand-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { withPassword } from './support/with-password.ts'

describe.skipIf(lacksRedis)('a reload', () => {
  test('reaches every process, and one that is started later', async () => {
    const secret = join(await temporaryFolder(), 'secret')
    writeFileSync(secret, 'before')
    const words = ['--faktory-password', secret, '--log-format', 'json']
    const gateway = await startShared(words)
    writeFileSync(secret, 'after')
    gateway.child.kill('SIGHUP')
    // Each process reads them itself, and the parent to check them.
    await gateway.said(/Reload \(SIGHUP\): --faktory-password changed/, 3)
    const port = gateway.portOf('faktory')
    const logIn = async (password: string): Promise<string> => {
      try {
        const client = await withPassword(port, password, 'one')
        onTestFinished(() => client.close())
        return 'in'
      } catch (error) {
        return String(error)
      }
    }
    const four = async (password: string) => [
      await logIn(password),
      await logIn(password),
      await logIn(password),
      await logIn(password),
    ]
    expect(await four('before')).toEqual(Array(4).fill(expect.stringContaining('-ERR')))
    expect(await four('after')).toEqual(Array(4).fill('in'))

    const [first] = await gateway.parts()
    process.kill(first?.pid ?? 0, 'SIGKILL')
    await gateway.said(/is running again/)
    await expect.poll(() => four('after'), patience).toEqual(Array(4).fill('in'))
  })

  test('of crossgear gearmand opens the log again and reads the settings', async () => {
    const redis = await RedisServer.start()
    onTestFinished(() => redis.stop())
    const file = join(await temporaryFolder(), 'crossgear.toml')
    writeFileSync(file, `redis_url = "unix://${redis.path}"\n`)
    const words = ['-p', '0', '-L', '127.0.0.1', '-l', 'stderr', '--verbose', 'INFO']
    const gearmand = startGearmand(words, { env: { CROSSGEAR_CONFIG: file } })
    await gearmand.said(/Listening on/)
    writeFileSync(file, `redis_url = "unix://${redis.path}"\n[routes.mail]\nretries = 3\n`)
    gearmand.kill('SIGHUP')
    await gearmand.said(/INFO .* Reload \(SIGHUP\): routes changed/)
    writeFileSync(file, 'nonsense')
    gearmand.kill('SIGHUP')
    await gearmand.said(/ERROR .* Reload \(SIGHUP\): nothing is changed: .*is not TOML/)
    gearmand.kill('SIGTERM')
    expect((await gearmand.exited).code).toBe(0)
  })
})
