import { bracketed } from '../net/addresses.ts'
import type { DoorRow } from '../net/door-row.ts'
import type { FaktorySettings } from './build-faktory.ts'

const lines = [
  'HELLO {"v":2}',
  'PUSH {"jid":"hello-0001","jobtype":"hello","args":["world"]}',
  'END',
]

export const faktoryRow = {
  name: 'faktory',
  title: 'Faktory',
  port: { fallback: 7419, help: 'port for Faktory producers and consumers, or off' },
  tls: 'server',
  passwordOf: ({ faktoryPassword }) => faktoryPassword,
  isGuarded: ({ faktoryPassword }) => faktoryPassword !== undefined,
  openWarning:
    'The Faktory port is open to the network without a password (--faktory-open yes): every machine in it may submit and take jobs.',
  trial: ({ host, port, hasPassword, tls }) =>
    hasPassword || tls
      ? `FAKTORY_URL=${tls ? 'tcp+tls' : 'tcp'}://${hasPassword ? ':PASSWORD@' : ''}${bracketed(host)}:${port} <any Faktory client>`
      : `printf '${lines.join(String.raw`\n`)}\\n' | curl -s telnet://${bracketed(host)}:${port}`,
  failure: 'the state failed',
  build: async (parts) => (await import('./build-faktory.ts')).buildFaktory(parts),
} as const satisfies DoorRow<FaktorySettings>
