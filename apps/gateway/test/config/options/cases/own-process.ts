import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { freePort } from '@crossgear/tools/free-port'
import type { RedisServer } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { GearmanPeer } from '../../../doors/gearman/support/gearman-peer.ts'
import { startGateway, wordsOn } from '../../../support/gateway-process.ts'
import { configFile, temporaryFolder } from '../../../support/temporary-folder.ts'
import type { Cases } from './case.ts'

const webAlone = ['--gearman-port', 'off', '--faktory-port', 'off', '--web-port', '0']

/** A gateway in a process of its own. */
function ownProcess(...words: readonly string[]): ReturnType<typeof startGateway> {
  const gateway = startGateway(words)
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  return gateway
}

/** Options that only a process of its own shows. */
export function ownProcessCases(redis: () => RedisServer): Cases {
  const store = (): readonly string[] => ['--redis-url', `unix://${redis().path}`]
  return {
    drainSeconds: async () => {
      const gateway = ownProcess(...wordsOn(redis(), 'gearman'), '--drain-seconds', '0')
      const peer = await GearmanPeer.ofTest((await gateway.ready).port('gearman'))
      await peer.submit('SUBMIT_JOB_BG', 'd', '', 'x')
      await peer.send('CAN_DO', 'd').ask('GRAB_JOB')
      const { code, stdout } = await gateway.end()
      expect([code, stdout.includes('Some jobs are still running')]).toEqual([0, true])
    },
    host: async () => {
      const gateway = ownProcess(...webAlone, '--host', '127.0.0.2', ...store())
      const [web] = (await gateway.ready).doors
      expect((await fetch(`http://127.0.0.2:${web?.port ?? 0}/healthz`)).status).toBe(200)
      await expect(fetch(`http://127.0.0.1:${web?.port ?? 0}/healthz`)).rejects.toThrow()
    },
    webHost: async () => {
      const words = wordsOn(redis(), 'gearman', 'web')
      const gateway = ownProcess(...words, '--web-host', '127.0.0.2')
      const { doors } = await gateway.ready
      expect(doors.map(({ name, host }) => `${name} ${host}`)).toEqual([
        'gearman 127.0.0.1',
        'web 127.0.0.2',
      ])
      const url = `http://127.0.0.2:${doors[1]?.port ?? 0}/healthz`
      expect((await fetch(url)).status).toBe(200)
      await expect(fetch(url.replace('0.2', '0.1'))).rejects.toThrow()
    },
    dataDir: async () => {
      const folder = await temporaryFolder()
      await ownProcess(...webAlone, '--store-port', '0', '--data-dir', folder).ready
      expect(existsSync(join(folder, 'store.log'))).toBe(true)
    },
    storePort: async () => {
      const port = await freePort()
      const own = ['--store-port', String(port), '--data-dir', await temporaryFolder()]
      const { nativeUrl } = (await ownProcess(...webAlone, ...own).ready).store
      expect(new URL(nativeUrl).port).toBe(String(port))
    },
    webPort: async () => {
      const port = await freePort()
      const words = ['--gearman-port', 'off', '--faktory-port', 'off', '--web-port', String(port)]
      await ownProcess(...words, ...store()).ready
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
    },
    config: async () => {
      const file = await configFile('gearman_port = "off"\nfaktory_port = "off"\nweb_port = 0\n')
      const { doors } = await ownProcess('--config', file, ...store()).ready
      expect(doors.map(({ name }) => name)).toEqual(['web'])
    },
    logFormat: async () => {
      const gateway = ownProcess(...webAlone, '--log-format', 'text', ...store())
      expect(await gateway.said(/^Crossgear .* is ready/)).toHaveLength(1)
    },
    logLevel: async () => {
      const port = await freePort()
      const words = ['--gearman-port', 'off', '--faktory-port', 'off', '--web-port', String(port)]
      const gateway = ownProcess(...words, '--log-level', 'fatal', ...store())
      const status = async (): Promise<number> =>
        (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.status ?? 0
      await expect.poll(status, soon).toBe(200)
      expect(await gateway.end()).toMatchObject({ code: 0, stdout: '' })
    },
  }
}
