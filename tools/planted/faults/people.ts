import type { FaultTable } from '../planted-fault.ts'

export const faults: FaultTable = {
  'operate-may-do-all': {
    promise: 'Settings and drops are for admins.',
    file: 'apps/gateway/src/web/api/roles.ts',
    from: 'reader: 0, operator: 1, admin: 2',
    to: 'reader: 0, operator: 1, admin: 1',
    test: 'apps/gateway/test/web/api/people.test.ts',
    testName: 'view reads, operate works on jobs, admin does everything',
  },
  'scan-takes-all-lanes': {
    promise: 'A filter of a person with queues takes their own jobs only.',
    file: 'apps/gateway/src/web/api/reads/job-scan.ts',
    from: 'lanes.filter((lane) => scope.hasLane(lane))',
    to: 'lanes.filter((lane) => scope.hasLane(lane) || true)',
    test: 'apps/gateway/test/web/api/scope.test.ts',
    testName: 'acts on all that a filter takes among their own only',
  },
  'proxy-headers-from-anywhere': {
    promise: 'The headers of a proxy count from its addresses alone.',
    file: 'apps/gateway/src/web/api/trusted-proxy.ts',
    from: "if (!users || !this.#from.allows(socket.remoteAddress ?? ''))",
    to: 'if (!users)',
    test: 'apps/gateway/test/web/api/people.test.ts',
    testName: 'a proxy names them only from its addresses',
  },
  'session-outlives-role': {
    promise: 'A session ends when the role of its person changes.',
    file: 'apps/gateway/src/web/api/people.ts',
    from: 'JSON.stringify([name, role, queues ?? null,',
    to: 'JSON.stringify([name, queues ?? null,',
    test: 'apps/gateway/test/web/api/people.test.ts',
    testName: 'a reload ends sessions of people',
  },
  'guesses-at-once-are-told': {
    promise: 'Many wrong passwords at once are no more tries.',
    file: 'apps/gateway/src/web/api/access.ts',
    from: "if (taken === 'free' && this.#wrong.isSpent(address))",
    to: 'if (taken === undefined)',
    test: 'apps/gateway/test/web/api/people.test.ts',
    testName: 'many wrong passwords at once are no more tries',
  },
  'undo-twice': {
    promise: 'A deletion is undone once.',
    file: 'apps/gateway/src/web/api/acts/undo-act.ts',
    from: '    await audit.undone(undo)\n',
    to: '',
    test: 'apps/gateway/test/web/api/audit.test.ts',
    testName: 'puts scheduled, failed and dead jobs back where they were',
  },
}
