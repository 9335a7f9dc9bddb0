import { Type } from '@sinclair/typebox'
import { jobStates } from './common.ts'
import { oneOf, orNull, strict, text, word, words } from '../endpoint.ts'

/** Hits of each kind that a search lists. */
export const maxHits = 10

export const searchQuery = strict({
  q: text('A name of a job, a batch, a function or a queue, or a part of the last two', 512),
})

export const searchAnswer = strict({
  jobs: Type.Array(
    strict({
      id: word('Its name in the API'),
      function: Type.String(),
      queue: Type.String(),
      state: oneOf([...jobStates, 'succeeded', 'failed'] as const),
      by: oneOf(['name', 'unique'] as const, 'By its id, handle or jid, or by its unique id'),
    }),
    { maxItems: maxHits + 1, description: 'Jobs with this name' },
  ),
  functions: words('Functions with that in their name, the one of that name first, at most 10'),
  queues: words('Queues with that in their name, the one of that name first, at most 10'),
  batch: orNull(Type.String(), 'The batch of that name'),
})
