import { writeFileSync } from 'node:fs'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { startGearmand } from '../../commands/gearmand/support/gearmand-process.ts'
import { redisOfTest } from '../../support/redis-of-suite.ts'
import { configFile } from '../../support/temporary-folder.ts'

describe.skipIf(lacksRedis)('a reload', () => {
  test('of crossgear gearmand opens the log again and reads the settings', async () => {
    const redis = await redisOfTest()
    const file = await configFile(`redis_url = "unix://${redis.path}"\n`)
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
