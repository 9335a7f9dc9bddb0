import type { PlantedFault } from '../planted-fault.ts'

/** Values of other programs in the keys of jobs, and handlers that throw. */
export const faults: readonly PlantedFault[] = [
  {
    name: 'failing-handler-leaves-its-connection',
    promise: 'A handler that throws ends its connection at once, whatever replies it owes.',
    file: 'apps/gateway/src/net/guarded.ts',
    from: '  socket.destroy()\n',
    to: '  socket.pause()\n',
    test: 'apps/gateway/test/net/failing-handlers.test.ts',
  },
  {
    name: 'failing-hand-over-refuses-the-whole-call',
    promise:
      'A worker that fails when it is handed its job costs no other of the same call theirs.',
    file: 'packages/core-scheduler/src/dispatch/claims.ts',
    from: '      this.#putBack(assignment)\n      request.failed(error)\n',
    to: '      throw error\n',
    test: 'packages/store-testkit/test/scheduler/scheduler.test.ts',
    testName: 'costs no other of the same call theirs',
  },
]
