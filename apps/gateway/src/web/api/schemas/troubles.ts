import { Type } from '@sinclair/typebox'
import { counted, oneOf, orNull, strict, word } from '../endpoint.ts'
import { count, takenAt, timeOrNull } from './common.ts'
import { mendingAct } from './waits.ts'

/** Kinds of what is wrong, the worst first. */
export const troubleCodes = [
  'persistence',
  'eviction',
  'memory',
  'silent_gateway',
  'vanished',
  'no_worker',
  'closed',
  'age',
  'paused_function',
  'paused_queue',
] as const

/** Troubles of one kind that are listed. */
export const troublesOfKind = 10

const bytes = counted('Bytes')

export const troubles = strict({
  at: takenAt,
  troubles: Type.Array(
    strict({
      code: oneOf(troubleCodes, 'The kind, for programs'),
      kind: oneOf(['function', 'queue', 'gateway', 'server'] as const, 'What it is about'),
      name: word('Its name'),
      text: word('What is wrong, in words. Times in it are RFC 3339'),
      since: timeOrNull,
      jobs: orNull(count, 'Jobs that it concerns'),
      act: mendingAct,
    }),
    { description: `The worst first; of each kind at most ${troublesOfKind}` },
  ),
  more: counted('Troubles that are not listed'),
  servers: Type.Array(
    strict({
      server: word('The address of a server of the store'),
      used_bytes: bytes,
      max_bytes: orNull(bytes, 'Its maxmemory; null: none'),
      machine_bytes: bytes,
      policy: word('Its maxmemory-policy'),
      is_append_only: Type.Boolean({ description: 'It writes each change to a file' }),
      last_save: orNull(
        Type.String({ format: 'date-time' }),
        'When its last snapshot was stored; null: none was since its start',
      ),
      unsaved_changes: counted('Changes since then'),
    }),
    { description: 'Servers of the store that say it' },
  ),
})
