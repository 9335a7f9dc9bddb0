import { Type } from '@sinclair/typebox'
import { oneOf, orNull, strict, word } from '../endpoint.ts'
import { timeOrNull } from './common.ts'

/** Reasons why something waits. */
export const waitCodes = [
  'paused',
  'queue_paused',
  'closed',
  'no_worker',
  'rate',
  'limit',
  'turn',
  'scheduled',
  'retry',
  'vanished',
  'client_left',
  'next',
  'worker',
] as const

/** Operations that end a reason, each with the name of what it acts on. */
export const mendingActs = [
  'resumeFunctions',
  'resumeQueues',
  'openFunctions',
  'retryJobs',
] as const

export const mendingAct = orNull(
  strict({
    operation: oneOf(mendingActs),
    name: word('The function, queue or job that the operation is given'),
  }),
  'What ends it; null where no operation of the API does',
)

const reason = strict({
  code: oneOf(waitCodes, 'The reason, for programs'),
  text: word('The reason in words, the same in every view. Times in it are RFC 3339'),
  since: timeOrNull,
  until: orNull(
    Type.String({ format: 'date-time', description: 'When time alone ends it, RFC 3339' }),
  ),
  act: mendingAct,
})

export const waitsFor = orNull(
  reason,
  'Why it waits, by the clock of the store; null: nothing of it waits. Gateways of former versions do not say it',
)
