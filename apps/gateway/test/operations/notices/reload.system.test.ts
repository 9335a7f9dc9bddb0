import { writeFileSync } from 'node:fs'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { expect, test } from 'vitest'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { startTarget } from '../../doors/push/support/target.ts'
import { gatewayOfTest } from '../../support/gateway-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { configFile } from '../../support/temporary-folder.ts'

const redis = redisOfSuite()

test.skipIf(lacksRedis)(
  'a reload turns notices of dead jobs on and off, and refuses a wrong URL',
  async () => {
    const target = await startTarget()
    const settings = `gearman_port = 0\nfaktory_port = "off"\nweb_port = "off"\nredis_url = "unix://${redis().path}"\n`
    const file = await configFile(settings)
    const gateway = gatewayOfTest(['--config', file])
    const { port } = await gateway.ready
    const reload = async (table: string, said: RegExp): Promise<string> => {
      writeFileSync(file, settings + table)
      gateway.child.kill('SIGHUP')
      return (await gateway.said(said)).at(-1) ?? ''
    }
    const fail = async (): Promise<void> => {
      const [client, worker] = [
        await GearmanPeer.ofTest(port('gearman')),
        await GearmanPeer.ofTest(port('gearman')),
      ]
      await worker.send('CAN_DO', 'mail').sync()
      await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
      const { handle } = await worker.nextJob()
      await worker.send('WORK_FAIL', handle).sync()
    }
    await fail()
    const wrong = await reload(
      '[notify]\ndead = "https://me:sesame@10.0.0.1/"',
      /nothing is changed/,
    )
    expect(wrong).toContain('--notify-dead (notify.dead) is a private address')
    expect(wrong).not.toContain('sesame')
    const on = `[notify]\ndead = "${target.url}"\nprivate = true`
    await reload(on, /--notify-dead, --notify-private changed/)
    await fail()
    const notice = await target.next()
    notice.answer(200)
    expect(notice.headers).not.toHaveProperty('crossgear-signature')
    await reload(`${on}\nsecret = "sesame"`, /--notify-secret changed/)
    await fail()
    const signed = await target.next()
    signed.answer(200)
    expect(signed.headers).toHaveProperty('crossgear-signature')
    expect(target.all).toHaveLength(2)
  },
)
