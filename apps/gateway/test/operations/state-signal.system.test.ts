import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import { startGateway } from '../support/gateway-process.ts'
import { redisOfSuite } from '../support/redis-of-suite.ts'

const ports = ['--gearman-port', '0', '--faktory-port', '0', '--web-port', '0']

function started(words: readonly string[], env: Record<string, string>) {
  const gateway = startGateway(words, env)
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  return gateway
}

describe.skipIf(lacksRedis)('SIGTTIN prints the state, and', () => {
  const redis = redisOfSuite()
  const env = () => ({ CROSSGEAR_REDIS_URL: `unix://${redis().path}` })

  test('the gateway goes on', async () => {
    const gateway = started(['serve', ...ports], env())
    const { port } = await gateway.ready
    const worker = await FwpClient.ofTest(port('faktory'), { wid: 'state-1' })
    await worker.ask('PUSH {"jid":"state-job-1","jobtype":"s","args":[],"queue":"stated"}')
    expect(await worker.ask('FETCH stated')).toContain('state-job-1')
    gateway.child.kill('SIGTTIN')
    await gateway.said(/State \(SIGTTIN\): Crossgear \d+\.\d+\.\d+, process \d+, up \d+ s, \d+ MB/)
    await gateway.said(/State \(SIGTTIN\): gearman listens on 127\.0\.0\.1:\d+\./)
    await gateway.said(/State \(SIGTTIN\): node \S+, jobs handed out by it: 1\./)
    await gateway.said(/State \(SIGTTIN\): faktory: 0 clients; .*queue stated: 1 busy and 0 idle\./)
    await gateway.said(/State \(SIGTTIN\): the store \(.*\) takes jobs\./)
    expect(await worker.ask('ACK {"jid":"state-job-1"}')).toBe('+OK')
  })

  test('a log of errors alone has it too', async () => {
    const port = await freePort()
    const words = ['faktory', '-b', '127.0.0.1:0', '-w', `127.0.0.1:${port}`, '-l', 'error']
    const gateway = started(words, { ...env(), HOME: '/nonexistent' })
    const status = async (): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.status ?? 0
    await expect.poll(status, { interval: 20 }).toBe(200)
    gateway.child.kill('SIGTTIN')
    await gateway.said(/State \(SIGTTIN\): the store \(.*\) takes jobs\./)
  })

  test('a gateway that still waits for its store says so', async () => {
    const gateway = started(['serve', ...ports], { CROSSGEAR_REDIS_URL: 'unix:///no/such.sock' })
    await gateway.said(/cannot be reached/)
    gateway.child.kill('SIGTTIN')
    await gateway.said(/State \(SIGTTIN\): the start is not complete\./)
    expect((await gateway.end()).code).toBe(0)
  })
})
