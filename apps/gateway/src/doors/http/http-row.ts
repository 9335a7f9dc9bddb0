import { bracketed } from '../net/addresses.ts'
import type { DoorRow } from '../net/door-row.ts'
import type { HttpSettings } from './build-http.ts'

export const httpRow = {
  name: 'http',
  title: 'HTTP',
  port: { fallback: 'off', help: 'port for jobs submitted with HTTP (POST /function), or off' },
  tls: 'none',
  isGuarded: () => false,
  openWarning:
    'The HTTP port is open to the network: every machine in it may submit jobs. It knows no passwords: let a firewall guard it.',
  trial: ({ host, port }) => `curl -d world http://${bracketed(host)}:${port}/hello`,
  failure: 'the answer that it failed',
  build: async (parts) => (await import('./build-http.ts')).buildHttp(parts),
} as const satisfies DoorRow<HttpSettings>
