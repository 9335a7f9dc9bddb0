import type { DoorRow } from '../../../src/doors/net/door-row.ts'

/** A door in which each line is a job, and is answered by the line of its result. */
export const echoRow = {
  name: 'echo',
  title: 'Echo',
  port: { fallback: 'off', help: 'port for lines, or off' },
  tls: 'none',
  isGuarded: () => false,
  openWarning: 'The echo port is open to the network.',
  trial: ({ host, port }) => `echo hello | nc ${host} ${port}`,
  failure: 'an empty line',
  build: async (parts) => (await import('./echo-door.ts')).buildEcho(parts),
} as const satisfies DoorRow<object>
