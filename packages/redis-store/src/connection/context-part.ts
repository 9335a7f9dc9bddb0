import type { RedisContext } from './redis-context.ts'

/** A part of the store that needs nothing but what all share. */
export class ContextPart {
  protected readonly context: RedisContext

  constructor(context: RedisContext) {
    this.context = context
  }
}
