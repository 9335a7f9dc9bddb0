import { once } from 'node:events'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { FwpClient } from '../faktory/support/fwp-client.ts'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import { startGearmand } from '../gearmand/support/gearmand-process.ts'
import { startGateway } from '../support/gateway-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { lacksOpenssl, makeCertificates } from '../tls/support/certificates.ts'
import { patience, startShared } from './support/shared-gateway.ts'

const freePorts = ['--gearman-port', '0', '--faktory-port', '0', '--web-port', 'off']

describe('--processes', () => {
  test.each(['0', '65', 'many'])('%s is refused in one line, with code 2', async (text) => {
    const { code, stderr } = await startGateway(['--processes', text]).exited
    expect([code, stderr]).toEqual([
      2,
      `--processes is "${text}": give a whole number from 1 to 64, or auto.\n`,
    ])
  })

  test('2 on the embedded store: both processes work on it', async () => {
    const folder = await temporaryFolder()
    const words = [...freePorts, '--store-port', '0', '--data-dir', folder]
    const gateway = startGateway([...words, '--processes', '2'], { PATH: '/nowhere' })
    onTestFinished(async () => {
      gateway.child.kill('SIGKILL')
      await gateway.exited
    })
    const { store, doors } = await gateway.ready
    expect(store.kind).toBe('embedded')
    const port = doors.find(({ name }) => name === 'faktory')?.port ?? 0
    const [one, other] = [await FwpClient.greeted(port), await FwpClient.greeted(port)]
    onTestFinished(() => [one, other].forEach((client) => client.close()))
    await one.ask('PUSH {"jid":"job-00001","jobtype":"tick","args":[]}')
    expect(await other.askJson('FETCH default')).toMatchObject({ jid: 'job-00001' })
    await other.ask('ACK {"jid":"job-00001"}')
    gateway.child.kill('SIGTERM')
    expect((await gateway.exited).code).toBe(0)
  })

  test('with a port that is in use logs that once, and ends with code 1', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const store = ['--store-port', '0', '--data-dir', await temporaryFolder()]
    const ports = [...freePorts, '--faktory-port', String(port)]
    const { code, stderr } = await startGateway(['--processes', '2', ...ports, ...store]).exited
    expect([code, stderr]).toEqual([
      1,
      `Port ${port} on 127.0.0.1 is in use: stop the other program or choose another with --faktory-port.\n`,
    ])
  })
})

describe.skipIf(lacksRedis || lacksOpenssl)('with certificates', () => {
  test('two processes speak TLS, and Faktory with TLS', async () => {
    const { server } = await makeCertificates()
    const doorFlags = ['gearman', 'faktory'].flatMap((door) => [
      ...[`--${door}-tls-cert`, server.cert],
      ...[`--${door}-tls-key`, server.key],
    ])
    const gateway = await startShared(doorFlags)
    const secured = async (door: string) => {
      const ca = readFileSync(server.cert)
      const socket = connect({ port: gateway.portOf(door), host: '127.0.0.1', ca })
      onTestFinished(() => void socket.destroy())
      await once(socket, 'secureConnect')
      return socket
    }
    for (let count = 0; count < 2; count += 1) {
      const peer = new GearmanPeer(await secured('gearman'))
      await peer.sync()
      const [greeting] = (await once(await secured('faktory'), 'data')) as [Buffer]
      expect(greeting.toString()).toMatch(/^\+HI /)
    }
  })
})

describe.skipIf(lacksRedis)('crossgear gearmand with CROSSGEAR_PROCESSES', () => {
  test('shares its port among processes, and opens the log of all again on HUP', async () => {
    const redis = await RedisServer.start()
    onTestFinished(() => redis.stop())
    const log = join(await temporaryFolder(), 'log')
    const store = { CROSSGEAR_REDIS_URL: `unix://${redis.path}`, CROSSGEAR_LOG_FORMAT: 'json' }
    const env = { ...store, CROSSGEAR_PROCESSES: '2' }
    const words = ['-p', '0', '-L', '127.0.0.1', '-l', log, '--verbose', 'INFO']
    const gearmand = startGearmand(words, { env })
    const said = (pattern: RegExp) =>
      vi.waitFor(() => {
        const found = pattern.exec(existsSync(log) ? readFileSync(log, 'utf8') : '')
        expect(found).not.toBeNull()
        return found
      }, patience)
    const port = Number((await said(/Listening on 127.0.0.1:(\d+) \(gearman\)/))?.[1])
    for (const process of [1, 2]) await said(new RegExp(`INFO .*\\[ proc ${process} \\] Process`))
    const peers = [await GearmanPeer.connect(port), await GearmanPeer.connect(port)]
    for (const peer of peers) await peer.sync()

    renameSync(log, `${log}.1`)
    gearmand.kill('SIGHUP')
    for (const writer of [' main', 'proc 1', 'proc 2']) {
      await said(new RegExp(`\\[ ${writer} \\] SIGHUP, reopening log file`))
    }
    gearmand.kill('SIGUSR1')
    for (const peer of peers) await peer.leave()
    expect((await gearmand.exited).code).toBe(0)
  })
})
