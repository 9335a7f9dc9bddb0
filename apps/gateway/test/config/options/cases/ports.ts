import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as connectTls } from 'node:tls'
import { expect, onTestFinished } from 'vitest'
import type { OptionName } from '../../../../src/config/options.ts'
import { makeCertificates } from '../../../doors/tls/support/certificates.ts'
import type { Open } from '../composed-gateway.ts'
import type { Cases } from './case.ts'

/** An address of this machine that other machines could reach. */
export const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

/** Options of the ports. */
export function portCases(open: Open): Cases {
  const doorCase = (option: OptionName, door: string) => async (): Promise<void> => {
    expect((await open({ [option]: '0' })).doors).toContain(door)
    expect((await open({ [option]: 'off' })).doors).not.toContain(door)
  }

  /** True where only clients with a certificate of the authority are served. */
  async function tlsCase(
    gearmanTlsVerifyClients: string,
    turnedAway: 'stranger' | 'none',
  ): Promise<void> {
    const { server, ca, client, stranger } = await makeCertificates()
    const gateway = await open({
      gearmanTlsCert: server.cert,
      gearmanTlsKey: server.key,
      gearmanTlsCa: ca.cert,
      gearmanTlsVerifyClients,
    })
    const served = async (pair?: { cert: string; key: string }): Promise<string> => {
      const own = pair && { cert: readFileSync(pair.cert), key: readFileSync(pair.key) }
      const port = gateway.port('gearman')
      const socket = connectTls({ port, host: '127.0.0.1', ca: readFileSync(server.cert), ...own })
      onTestFinished(() => void socket.destroy())
      socket.on('error', () => undefined)
      socket.write('version\n')
      const heard = once(socket, 'data').then(([data]) => String(data).slice(0, 2))
      return await Promise.race([heard, once(socket, 'close').then(() => 'closed')]).catch(
        () => 'closed',
      )
    }
    expect(await served(client)).toBe('OK')
    expect(await served(turnedAway === 'stranger' ? stranger : undefined)).toBe('closed')
  }

  return {
    gearmanPort: doorCase('gearmanPort', 'gearman'),
    faktoryPort: doorCase('faktoryPort', 'faktory'),
    httpPort: doorCase('httpPort', 'http'),
    adminFrom: async () => {
      const changing = async (adminFrom?: string): Promise<string> => {
        const gateway = await open({
          host: '0.0.0.0',
          faktoryPort: 'off',
          ...(adminFrom && { adminFrom }),
        })
        const socket = connect(gateway.port('gearman'), outside)
        onTestFinished(() => void socket.destroy())
        socket.write('create function made\n')
        const [reply] = (await once(socket, 'data')) as [Buffer]
        return reply.toString().slice(0, 3)
      }
      expect([await changing(), await changing(outside)]).toEqual(['ERR', 'OK\r'])
    },
    gearmanTlsCa: () => tlsCase('no', 'stranger'),
    gearmanTlsVerifyClients: () => tlsCase('yes', 'none'),
  }
}
