import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findStoreProgram } from '../../src/store/private-server.ts'
import { startGateway } from '../support/gateway-process.ts'
import { recordingLog } from '../support/recording-log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { fakeRedis } from './support/fake-redis.ts'

const baseWords = ['--gearman-port', 'off', '--faktory-port', 'off', '--web-port', '0']
const program = await findStoreProgram(process.env['PATH'], recordingLog().log)
const lacksStore = program === undefined && 'redis-server'

describe('a start that cannot be completed', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'because the store reads its data without end is given up at %s, with 0',
    async (signal) => {
      const port = await fakeRedis(() => '-LOADING Redis is loading the dataset in memory')
      const gateway = startGateway([...baseWords, '--redis-url', `redis://127.0.0.1:${port}`])
      await gateway.said(/The store is loading its data/)
      const { code, stdout, stderr } = await gateway.end(signal)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toContain(`"Stopping (${signal}) before the start is complete."`)
      expect(stdout).not.toContain('"Ready."')
    },
  )

  test.skipIf(lacksStore)(
    'because another gateway holds the lock of the data folder is given up at SIGTERM',
    async () => {
      const dataDir = await temporaryFolder()
      await writeFile(join(dataDir, 'store.lock'), String(process.pid))
      const words = [...baseWords, '--data-dir', dataDir, '--log-level', 'debug']
      const gateway = startGateway(words)
      await gateway.said(/Another gateway is starting or stopping the store/)
      expect((await gateway.end()).code).toBe(0)
    },
  )

  test.skipIf(lacksStore || (process.platform !== 'linux' && 'Linux'))(
    'because the data folder cannot be created ends with one line and 1',
    async () => {
      const gateway = startGateway([...baseWords, '--data-dir', '/proc/crossgear/data'])
      const { code, stderr } = await gateway.exited
      expect(stderr).toBe(
        'The folder /proc/crossgear/data cannot be used (ENOENT): choose another with --data-dir or CROSSGEAR_DATA_DIR.\n',
      )
      expect(code).toBe(1)
    },
  )
})
