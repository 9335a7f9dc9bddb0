import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import { gatewayOfTest, startGateway } from '../../support/gateway-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { askSecurely } from './support/ask-securely.ts'
import { lacksOpenssl, makeCertificates } from './support/certificates.ts'

test.each(['gearman', 'faktory', 'web'])(
  'a gateway whose %s certificate is missing reports that in one line and does not start',
  async (door) => {
    const files = [`--${door}-tls-cert`, '/no/such.crt', `--${door}-tls-key`, '/no/such.key']
    const { code, stderr } = await startGateway(files).exited
    expect(stderr).toBe(`--${door}-tls-cert names /no/such.crt, which cannot be read (ENOENT).\n`)
    expect(code).toBe(2)
  },
)

test.skipIf(lacksOpenssl)('a gateway with certificates speaks TLS at its ports', async () => {
  const { server } = await makeCertificates()
  const flags = ['gearman', 'faktory', 'web'].flatMap((door) => [
    `--${door}-port`,
    '0',
    `--${door}-tls-cert`,
    server.cert,
    `--${door}-tls-key`,
    server.key,
  ])
  const store = ['--data-dir', await temporaryFolder(), '--store-port', '0']
  const gateway = gatewayOfTest([...flags, ...store, '--log-format', 'json'])
  const { port } = await gateway.ready
  const secured = async (door: string) => {
    const ca = readFileSync(server.cert)
    const socket = connect({ port: port(door), host: '127.0.0.1', ca })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    return socket
  }
  await new GearmanPeer(await secured('gearman')).sync()
  const [greeting] = (await once(await secured('faktory'), 'data')) as [Buffer]
  expect(greeting.toString()).toMatch(/^\+HI /)
  expect(await askSecurely(port('web'), '/readyz', server)).toMatchObject({
    status: 200,
    text: '{"status":"ready"}\n',
  })
})
