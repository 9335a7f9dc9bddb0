import type { DoorRow } from '../net/door-row.ts'
import type { GearmanSettings } from './build-gearman.ts'

export const gearmanRow = {
  name: 'gearman',
  title: 'Gearman',
  port: {
    fallback: 4730,
    help: 'port for Gearman clients and workers; off closes the door, 0 takes a free port',
  },
  tls: 'clients',
  isGuarded: ({ gearmanTlsVerifyClients, gearmanTlsCert, gearmanTlsCa }) =>
    gearmanTlsVerifyClients && gearmanTlsCert !== undefined && gearmanTlsCa !== undefined,
  openWarning:
    'The Gearman port is open to the network: every machine in it may submit and take jobs. The protocol knows no passwords: ask for certificates (--gearman-tls-verify-clients), or let a firewall guard the port.',
  trial: ({ host, port, tls }) =>
    `gearman${tls ? ' -S' : ''} -h ${host} -p ${port} -b -f hello world`,
  failure: 'WORK_FAIL',
  build: async (parts) => (await import('./build-gearman.ts')).buildGearman(parts),
} as const satisfies DoorRow<GearmanSettings>
