import type { FaultTable } from '../planted-fault.ts'

const push = 'apps/gateway/test/doors/push/push.test.ts'

export const faults: FaultTable = {
  'private-address-connected': {
    promise: 'A name that resolves to a private address is not connected to.',
    file: 'apps/gateway/src/doors/outgoing/public-addresses.ts',
    from: 'addresses.filter(({ address }) => isPublicAddress(address))',
    to: 'addresses',
    test: 'apps/gateway/test/doors/push/poster.test.ts',
  },
  'mapped-address-taken': {
    promise: 'An IPv4 address in the form of an IPv6 one is refused.',
    file: 'apps/gateway/src/doors/outgoing/public-addresses.ts',
    from: "const globalV6 = '2000::/3'",
    to: "const globalV6 = '::/2'",
    test: 'apps/gateway/test/doors/push/push-route.test.ts',
  },
  'busy-target-costs-retry': {
    promise: 'A job that comes back with 429 loses no retry.',
    file: 'apps/gateway/src/doors/push/push-target.ts',
    from: 'this.#breaker.rest(verdict.waitMs)\n      this.scheduler.release(delivery, false)',
    to: 'this.#breaker.rest(verdict.waitMs)\n      this.scheduler.release(delivery, true)',
    test: push,
    testName: 'waits as 429',
  },
  'resting-target-gets-jobs': {
    promise: 'A target that rests gets no request.',
    file: 'apps/gateway/src/doors/push/push-target.ts',
    from: "return this.#breaker.state === 'closed' || this.#probe === slot",
    to: 'return true',
    test: push,
    testName: 'rests after failures',
  },
  'job-kept-by-stop': {
    promise: 'A job whose request is given up at a stop goes back and has lost no worker.',
    file: 'apps/gateway/src/doors/push/push-target.ts',
    from: 'this.#counts.ends.returned += 1\n      this.scheduler.release(delivery, false)',
    to: 'this.#counts.ends.returned += 1\n      this.scheduler.release(delivery, true)',
    test: 'apps/gateway/test/doors/push/processes.system.test.ts',
    testName: 'gives back what',
  },
  'stale-connection-fails': {
    promise: 'A kept connection that the server has closed costs the job nothing.',
    file: 'apps/gateway/src/doors/outgoing/poster.ts',
    from: 'if (isStale && !hasAnswered) resolve(undefined)',
    to: 'if (isStale && hasAnswered) resolve(undefined)',
    test: 'apps/gateway/test/doors/push/poster.test.ts',
  },
  'notices-unbounded': {
    promise: 'Notices of dead jobs that wait are bounded.',
    file: 'apps/gateway/src/operations/notices/dead-job-notices.ts',
    from: 'this.#size >= maxWaiting',
    to: 'this.#size > 10 * maxWaiting',
    test: 'apps/gateway/test/operations/notices/dead-job-notices.test.ts',
    testName: 'beyond 10,000',
  },
}
