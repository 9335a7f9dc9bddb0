import { readQueueNames } from './queue-names.ts'

/**
 * The argument of `FETCH queue...`: the names in order, each once; `default` where there is
 * none. A name that no queue can have is kept: it is a queue with no jobs. Throws
 * `TOO_MANY_QUEUES` above 1000.
 */
export function parseFetch(argument: Buffer): string[] {
  const names = readQueueNames(argument.toString('utf8'))
  return names.length === 0 ? ['default'] : names
}
