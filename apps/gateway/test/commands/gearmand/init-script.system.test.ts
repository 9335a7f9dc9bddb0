import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const script = fileURLToPath(new URL('../../../../../deploy/sysvinit/gearmand', import.meta.url))
const path = '/usr/sbin:/usr/bin:/sbin:/bin'
/** A part of dpkg; in CI its absence is a failure. */
const lacksStartStopDaemon =
  spawnSync('start-stop-daemon', ['--version'], { env: { PATH: path } }).status !== 0 &&
  process.env['CI'] !== 'true'

describe.skipIf(lacksRedis || lacksStartStopDaemon)(
  'the init script, with start-stop-daemon',
  () => {
    const redis = redisOfSuite()

    test('starts, tells its state, restarts and stops the server', async () => {
      const folder = await temporaryFolder()
      const [pidFile, port] = [join(folder, 'gearmand.pid'), await freePort()]
      const daemon = join(folder, 'crossgear-gearmand')
      const words = [process.execPath, ...bundleWords()].map((word) => `'${word}'`).join(' ')
      writeFileSync(daemon, `#!/bin/sh\nexec ${words} gearmand "$@"\n`, { mode: 0o755 })
      const settings = { DAEMON: daemon, PIDFILE: pidFile, PARAMS: `-p ${port} -l none` }
      const lines = Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`)
      writeFileSync(join(folder, 'defaults'), lines.join(''))
      const env = {
        PATH: path,
        DEFAULTS: join(folder, 'defaults'),
        CROSSGEAR_REDIS_URL: `unix://${redis().path}`,
      }
      const act = (word: string): number | null => spawnSync(script, [word], { env }).status
      const pidOf = (): Promise<string> => {
        const socket = connect(port, '127.0.0.1')
        onTestFinished(() => void socket.destroy())
        return new GearmanPeer(socket).command('getpid')
      }
      onTestFinished(() => {
        if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL')
      })

      expect(act('status')).not.toBe(0)
      expect(act('start')).toBe(0)
      const first = await pidOf()
      expect(first).toBe(`OK ${readFileSync(pidFile, 'utf8').trim()}`)
      expect([act('start'), act('status'), act('reload')]).toEqual([0, 0, 0])
      expect(await pidOf()).toBe(first)
      expect(act('restart')).toBe(0)
      expect(await pidOf()).not.toBe(first)
      expect([act('stop'), existsSync(pidFile), act('stop')]).toEqual([0, false, 0])
      expect(act('status')).not.toBe(0)
      expect(act('fly')).toBe(2)
    })
  },
)
